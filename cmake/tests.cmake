# Tests mirror sources: src/a/b.c is tested by tests/a/test_b.c, or by a test whose head
# comment says "Tests src/a/b.c" (CONTRIBUTING.md, "Tests"). All test_*.c of one folder
# make one program, named after the folder; each file is one ctest. Other .c files of a
# folder are helpers, of its tests and of those in the folders below it.
add_library(fire_test STATIC ${CMAKE_SOURCE_DIR}/tests/test.c ${CMAKE_SOURCE_DIR}/tests/gpu.c)
target_include_directories(fire_test PUBLIC ${CMAKE_SOURCE_DIR}/tests)
target_compile_definitions(fire_test PUBLIC FIRE_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
  FIRE_BUILD_DIR="${CMAKE_BINARY_DIR}")
target_link_libraries(fire_test PUBLIC fire)
if(CMAKE_CROSSCOMPILING)
  target_compile_definitions(fire_test PRIVATE TEST_EMULATED=1)
endif()

file(GLOB_RECURSE test_files CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/tests
  ${CMAKE_SOURCE_DIR}/tests/*/test_*.c)
set(test_dirs "")
foreach(f IN LISTS test_files)
  get_filename_component(d ${f} DIRECTORY)
  list(APPEND test_dirs ${d})
endforeach()
list(REMOVE_DUPLICATES test_dirs)

# Plug-ins of an MPI library are unloaded with memory in use: leaks are looked for in
# all other tests.
set(mpi_environment "OPENBLAS_NUM_THREADS=1;OMP_NUM_THREADS=1;ASAN_OPTIONS=detect_leaks=0")

set(test_seconds 600)
if(FIRE_SAN OR CMAKE_CROSSCOMPILING)
  set(test_seconds 3000)
endif()
foreach(d IN LISTS test_dirs)
  set(test_environment "OPENBLAS_NUM_THREADS=1;OMP_NUM_THREADS=1")
  if(d MATCHES "mpi$")
    set(test_environment "${mpi_environment}")
  endif()
  string(REPLACE "/" "_" exe ${d})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${d}/*.c)
  set(folders ${CMAKE_SOURCE_DIR}/tests/${d})
  get_filename_component(up "${d}" DIRECTORY)
  while(NOT up STREQUAL "")
    file(GLOB helpers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${up}/*.c)
    list(FILTER helpers EXCLUDE REGEX "/test_[^/]*$")
    list(APPEND sources ${helpers})
    list(APPEND folders ${CMAKE_SOURCE_DIR}/tests/${up})
    get_filename_component(up "${up}" DIRECTORY)
  endwhile()
  add_executable(test_${exe} ${sources})
  target_link_libraries(test_${exe} fire_test)
  target_include_directories(test_${exe} PRIVATE ${folders})
  set_target_properties(test_${exe} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  foreach(f IN LISTS sources)
    get_filename_component(name ${f} NAME_WE)
    if(name MATCHES "^test_(.*)$")
      add_test(NAME ${d}/${CMAKE_MATCH_1} COMMAND test_${exe} --file ${name}.c
        WORKING_DIRECTORY ${CMAKE_BINARY_DIR})
      set_tests_properties(${d}/${CMAKE_MATCH_1} PROPERTIES TIMEOUT ${test_seconds}
        ENVIRONMENT "${test_environment}" SKIP_RETURN_CODE 77)
    endif()
  endforeach()
endforeach()

# fire_gpu_test(NAME COMMAND...): the same on a GPU, skipped, with the reason, where there
# is none or the build has no CUDA.
function(fire_gpu_test name)
  add_test(NAME gpu/${name} COMMAND ${ARGN} WORKING_DIRECTORY ${CMAKE_BINARY_DIR})
  set_tests_properties(gpu/${name} PROPERTIES TIMEOUT 900 LABELS gpu SKIP_RETURN_CODE 77
    ENVIRONMENT "OPENBLAS_NUM_THREADS=1;OMP_NUM_THREADS=1;FIRE_CUDA_LIBS=${FIRE_EMULATOR_LIBS}:$ENV{FIRE_CUDA_LIBS}")
endfunction()
foreach(precision fp32 tf32 bf16 fp16)
  fire_gpu_test(layers_${precision} test_layers --gpu=${precision} --file test_cases.c)
  fire_gpu_test(groups_${precision} test_layers --gpu=${precision} --file test_groups.c)
endforeach()

fire_gpu_test(train test_train --gpu=fp32 --file test_gpu.c)
# fire_capability_test(NAME X.Y COMMAND...): on an emulated GPU of compute capability X.Y.
# With PRINTS it passes if it prints this, whatever its status.
function(fire_capability_test name capability)
  cmake_parse_arguments(PARSE_ARGV 2 t "" "PRINTS" "COMMAND")
  fire_gpu_test(${name}_on_${capability} ${t_COMMAND})
  set_property(TEST gpu/${name}_on_${capability} APPEND PROPERTY ENVIRONMENT
    EMULATOR_CAPABILITY=${capability})
  if(t_PRINTS)
    set_tests_properties(gpu/${name}_on_${capability} PROPERTIES PASS_REGULAR_EXPRESSION "${t_PRINTS}")
  endif()
endfunction()
if(FIRE_CUDA_EMULATOR)
  foreach(pair 7.5/fp16 8.0/bf16 9.0/tf32)
    string(REPLACE "/" ";" pair ${pair})
    list(GET pair 0 capability)
    list(GET pair 1 precision)
    foreach(file cases groups)
      fire_capability_test(${file}_${precision} ${capability}
        COMMAND test_layers --gpu=${precision} --file test_${file}.c)
    endforeach()
  endforeach()
  set(net ${CMAKE_SOURCE_DIR}/models/lenet/deploy.prototxt --gpu 0 --precision)
  fire_capability_test(net_bf16 7.5 COMMAND firecaffe net ${net} bf16
    PRINTS "bf16 needs a GPU of compute capability 8.0 or newer, and this one has 7.5: use")
  fire_capability_test(net_tf32 7.5 COMMAND firecaffe net ${net} tf32
    PRINTS "tf32 needs a GPU of compute capability 8.0 or newer, and this one has 7.5: use")
  fire_capability_test(net_fp32 7.0 COMMAND firecaffe net ${net} fp32
    PRINTS "no code for GPU 0 .*7.0.*-DFIRE_CUDA_ARCHS=70")
  fire_capability_test(device_query 7.5 COMMAND firecaffe device_query PRINTS "Code for GPU 0: +there is")
  fire_capability_test(device_query 7.0 COMMAND firecaffe device_query PRINTS "-DFIRE_CUDA_ARCHS=70")
  fire_capability_test(device_query 12.0 COMMAND firecaffe device_query PRINTS "Code for GPU 0: +PTX")
elseif(FIRE_HAVE_CUDA)
  find_program(CUOBJDUMP cuobjdump HINTS ${CUDA_ROOT}/bin)
  if(CUOBJDUMP) # NVIDIA's own look at the library
    add_test(NAME gpu/library_has_code_for_all_archs COMMAND ${CMAKE_COMMAND}
      -DCUOBJDUMP=${CUOBJDUMP} -DLIBRARY=$<TARGET_FILE:fire_shared> -DARCHS=${FIRE_CUDA_CODE}
      -P ${CMAKE_SOURCE_DIR}/tests/device/check_archs.cmake)
  endif()
endif()
if(FIRE_CUDA_EMULATOR) # who builds some of these tests wants to run them all
  add_dependencies(test_layers test_layers_data test_train cublas_emulator nccl_emulator firecaffe)
endif()
foreach(layer feed data image_data annotated_data window_data)
  fire_gpu_test(${layer} test_layers_data --gpu=fp32 --file test_${layer}.c)
endforeach()

# Tests that are programs or scripts of their own add themselves.
file(GLOB extra CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/*/tests.cmake)
foreach(f IN LISTS extra)
  include(${f})
endforeach()
