# Tests of data layers share the helpers of tests/data.
target_sources(test_layers_data PRIVATE ${CMAKE_SOURCE_DIR}/tests/data/rig.c)
target_include_directories(test_layers_data PRIVATE ${CMAKE_SOURCE_DIR}/tests/data)

# What a lean net gives is compared with what `ref` gives.
target_sources(test_net PRIVATE ${CMAKE_SOURCE_DIR}/tests/layers/twins.c)
target_include_directories(test_net PRIVATE ${CMAKE_SOURCE_DIR}/tests/layers)

# Plug-ins for tests, in build/tests/plugins: compiled against the public headers, linked
# with nothing. A test that loads them shows them the library.
function(fire_test_plugin name source)
  add_library(plugin_${name} MODULE ${CMAKE_SOURCE_DIR}/${source})
  target_include_directories(plugin_${name} PRIVATE ${CMAKE_SOURCE_DIR}/include)
  target_compile_definitions(plugin_${name} PRIVATE ${ARGN})
  target_compile_options(plugin_${name} PRIVATE -Wall -Wextra -Wno-unused
    $<$<BOOL:${FIRE_WERROR}>:-Werror>)
  target_link_libraries(plugin_${name} PRIVATE m)
  if(FIRE_SAN)
    target_compile_options(plugin_${name} PRIVATE -fsanitize=${FIRE_SAN})
  endif()
  set_target_properties(plugin_${name} PROPERTIES PREFIX "" OUTPUT_NAME ${name}
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/plugins)
endfunction()
function(fire_loads_plugins)
  foreach(target IN LISTS ARGN)
    target_link_libraries(${target} fire_host)
    add_dependencies(${target} ${plugins})
  endforeach()
endfunction()
set(plugins plugin_probe plugin_rms_norm plugin_wrong)
fire_test_plugin(probe tests/api/plugin/probe.c)
fire_test_plugin(wrong tests/net/check/wrong/wrong.c)
fire_test_plugin(rms_norm examples/plugin/rms_norm.c)
foreach(fault none setup silent status undefined version later flags no_entry no_name
    no_layers type arity no_reshape kernel_size kernel_name same_kernel no_forward reads
    no_cpu taken same_type)
  string(TOUPPER FAULT_${fault} define)
  fire_test_plugin(${fault} tests/layers/plugin/faulty/faulty.c ${define})
  list(APPEND plugins plugin_${fault})
endforeach()
# On an emulated GPU the example's kernels run too.
if(FIRE_CUDA_EMULATOR)
  set(rms_norm_cu ${CMAKE_SOURCE_DIR}/examples/plugin/rms_norm.cu)
  add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/cuda/rms_norm.o
    COMMAND ${FIRE_CU_COMPILER} -DRMS_NORM_EMULATED -I${CMAKE_SOURCE_DIR}/include
      -c ${rms_norm_cu} -o ${CMAKE_BINARY_DIR}/cuda/rms_norm.o
    DEPENDS ${rms_norm_cu} ${CMAKE_SOURCE_DIR}/examples/plugin/rms_norm.h)
  target_sources(plugin_rms_norm PRIVATE ${CMAKE_BINARY_DIR}/cuda/rms_norm.o)
  target_compile_definitions(plugin_rms_norm PRIVATE RMS_NORM_CUDA)
  target_link_libraries(plugin_rms_norm PRIVATE cuda_emulator)
  add_test(NAME gpu/check_layer_of_plugin COMMAND firecaffe check-layer --gpu 0
    --plugin $<TARGET_FILE:plugin_rms_norm> ${CMAKE_SOURCE_DIR}/examples/plugin/rms_norm.prototxt)
  set_tests_properties(gpu/check_layer_of_plugin PROPERTIES TIMEOUT 600
    PASS_REGULAR_EXPRESSION "kernel cuda\n  ok .*2[0-9] checks passed, 0 failed"
    ENVIRONMENT "OPENBLAS_NUM_THREADS=1;OMP_NUM_THREADS=1;FIRE_CUDA_LIBS=${FIRE_EMULATOR_LIBS}")
endif()

# A program that keeps libfire.so to itself, as Python does, can load plug-ins too.
add_executable(plugin_host ${CMAKE_SOURCE_DIR}/tests/layers/plugin/host/host.c)
target_include_directories(plugin_host PRIVATE ${CMAKE_SOURCE_DIR}/include)
target_link_libraries(plugin_host ${CMAKE_DL_LIBS})
if(FIRE_SAN)
  target_link_options(plugin_host PRIVATE -fsanitize=${FIRE_SAN})
endif()
add_dependencies(plugin_host fire_shared plugin_rms_norm)
add_test(NAME layers/plugin/host COMMAND plugin_host $<TARGET_FILE:fire_shared>
  $<TARGET_FILE:plugin_rms_norm>)
set_tests_properties(layers/plugin/host PROPERTIES TIMEOUT 300
  ENVIRONMENT "OPENBLAS_NUM_THREADS=1;OMP_NUM_THREADS=1")

fire_loads_plugins(test_layers_plugin test_api test_net_check)
foreach(target test_tools test_tools_cmd)
  add_dependencies(${target} ${plugins})
endforeach()
