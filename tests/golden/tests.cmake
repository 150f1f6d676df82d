# The program that compares with Caffe, on cases of any folder; cmake/coverage.cmake
# has unpacked ours.
file(GLOB golden_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/golden/*.c)
list(APPEND golden_sources ${CMAKE_SOURCE_DIR}/tests/gpu.c)
add_executable(golden ${golden_sources})
target_include_directories(golden PRIVATE ${CMAKE_SOURCE_DIR}/tests)
target_link_libraries(golden fire)
set_target_properties(golden PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)

if(CMAKE_CROSSCOMPILING)
  # qemu keeps some MB for every thread that has ended: a process for every 60 cases. The
  # trainings of 50 to 100 updates take too long there.
  file(GLOB cases RELATIVE ${CMAKE_BINARY_DIR}/golden/cases ${CMAKE_BINARY_DIR}/golden/cases/*/case.json)
  list(TRANSFORM cases REPLACE "/case.json$" "")
  list(FILTER cases EXCLUDE REGEX "^trace_")
  list(LENGTH cases n)
  math(EXPR last "${n} - 1")
  foreach(first RANGE 0 ${last} 60)
    list(SUBLIST cases ${first} 60 part)
    add_test(NAME golden/from_${first} COMMAND golden ${CMAKE_BINARY_DIR}/golden/cases ${part})
    set_tests_properties(golden/from_${first} PROPERTIES TIMEOUT ${test_seconds}
      ENVIRONMENT "OPENBLAS_NUM_THREADS=1;OMP_NUM_THREADS=1")
  endforeach()
else()
  add_test(NAME golden COMMAND golden ${CMAKE_BINARY_DIR}/golden/cases)
  set_tests_properties(golden PROPERTIES TIMEOUT ${test_seconds} ENVIRONMENT "OPENBLAS_NUM_THREADS=1")
endif()
add_test(NAME golden_fast COMMAND golden --fast ${CMAKE_BINARY_DIR}/golden/cases)
set_tests_properties(golden_fast PROPERTIES TIMEOUT ${test_seconds} ENVIRONMENT
  "OPENBLAS_NUM_THREADS=1;OMP_WAIT_POLICY=PASSIVE")
# Whole trainings take too long where every thread of a GPU is a fiber.
set(golden_on_gpu "")
if(FIRE_CUDA_EMULATOR)
  file(GLOB golden_on_gpu RELATIVE ${CMAKE_BINARY_DIR}/golden/cases ${CMAKE_BINARY_DIR}/golden/cases/*)
  list(FILTER golden_on_gpu EXCLUDE REGEX "^(trace|solver|parallel)_")
endif()
fire_gpu_test(golden golden --gpu ${CMAKE_BINARY_DIR}/golden/cases ${golden_on_gpu})
