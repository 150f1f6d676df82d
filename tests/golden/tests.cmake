# The program that compares with Caffe, on cases of any folder. Ours are packed: 3000
# small files that hardly ever change.
file(GLOB golden_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/golden/*.c)
list(APPEND golden_sources ${CMAKE_SOURCE_DIR}/tests/gpu.c)
add_executable(golden ${golden_sources})
target_include_directories(golden PRIVATE ${CMAKE_SOURCE_DIR}/tests)
target_link_libraries(golden fire)
set_target_properties(golden PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)

set(golden_pack ${CMAKE_SOURCE_DIR}/tests/golden/cases.tar.xz)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${golden_pack})
if(${golden_pack} IS_NEWER_THAN ${CMAKE_BINARY_DIR}/golden/unpacked)
  file(REMOVE_RECURSE ${CMAKE_BINARY_DIR}/golden)
  file(ARCHIVE_EXTRACT INPUT ${golden_pack} DESTINATION ${CMAKE_BINARY_DIR}/golden)
  file(TOUCH ${CMAKE_BINARY_DIR}/golden/unpacked)
endif()

add_test(NAME golden COMMAND golden ${CMAKE_BINARY_DIR}/golden/cases)
set_tests_properties(golden PROPERTIES TIMEOUT 600 ENVIRONMENT "OPENBLAS_NUM_THREADS=1")
fire_gpu_test(golden golden --gpu ${CMAKE_BINARY_DIR}/golden/cases)
