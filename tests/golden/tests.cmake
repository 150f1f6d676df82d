# The program that compares with Caffe, on cases of any folder; cmake/coverage.cmake
# has unpacked ours.
file(GLOB golden_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/golden/*.c)
list(APPEND golden_sources ${CMAKE_SOURCE_DIR}/tests/gpu.c)
add_executable(golden ${golden_sources})
target_include_directories(golden PRIVATE ${CMAKE_SOURCE_DIR}/tests)
target_link_libraries(golden fire)
set_target_properties(golden PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)

add_test(NAME golden COMMAND golden ${CMAKE_BINARY_DIR}/golden/cases)
set_tests_properties(golden PROPERTIES TIMEOUT 600 ENVIRONMENT "OPENBLAS_NUM_THREADS=1")
add_test(NAME golden_fast COMMAND golden --fast ${CMAKE_BINARY_DIR}/golden/cases)
set_tests_properties(golden_fast PROPERTIES TIMEOUT 600 ENVIRONMENT
  "OPENBLAS_NUM_THREADS=1;OMP_WAIT_POLICY=PASSIVE")
# Whole trainings take too long where every thread of a GPU is a fiber.
set(golden_on_gpu "")
if(FIRE_CUDA_EMULATOR)
  file(GLOB golden_on_gpu RELATIVE ${CMAKE_BINARY_DIR}/golden/cases ${CMAKE_BINARY_DIR}/golden/cases/*)
  list(FILTER golden_on_gpu EXCLUDE REGEX "^(trace|solver|parallel)_")
endif()
fire_gpu_test(golden golden --gpu ${CMAKE_BINARY_DIR}/golden/cases ${golden_on_gpu})
