# The examples are programs of other people: public headers and libfire.so only. They are
# built in build/examples and run there.
function(fire_example name source)
  add_executable(example_${name} ${CMAKE_SOURCE_DIR}/examples/${source})
  target_include_directories(example_${name} PRIVATE ${CMAKE_SOURCE_DIR}/include)
  target_link_libraries(example_${name} PRIVATE fire_shared)
  if(FIRE_SAN)
    target_compile_options(example_${name} PRIVATE -fsanitize=${FIRE_SAN})
    target_link_options(example_${name} PRIVATE -fsanitize=${FIRE_SAN})
  endif()
  set_target_properties(example_${name} PROPERTIES OUTPUT_NAME ${name}
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/examples)
endfunction()

# fire_example_test(TEST EXAMPLE PATTERN ARGUMENT...): what it prints matches the pattern.
function(fire_example_test test example pattern)
  add_test(NAME examples/${test} COMMAND example_${example} ${ARGN}
    WORKING_DIRECTORY ${CMAKE_BINARY_DIR}/examples)
  set_tests_properties(examples/${test} PROPERTIES TIMEOUT 300
    PASS_REGULAR_EXPRESSION "${pattern}"
    ENVIRONMENT "OPENBLAS_NUM_THREADS=1;OMP_NUM_THREADS=1")
endfunction()

# fire_example_memory_test(TEST EXAMPLE ARGUMENT...): valgrind finds no wrong access and no
# leak. Sanitizers do the same for the other tests of examples.
find_program(VALGRIND valgrind)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/examples/valgrind)
function(fire_example_memory_test test example)
  if(VALGRIND AND NOT FIRE_SAN)
    add_test(NAME examples/${test}_under_valgrind COMMAND ${VALGRIND} -q --error-exitcode=9
      --leak-check=full --errors-for-leak-kinds=definite,indirect
      $<TARGET_FILE:example_${example}> ${ARGN}
      WORKING_DIRECTORY ${CMAKE_BINARY_DIR}/examples/valgrind)
  else()
    add_test(NAME examples/${test}_under_valgrind COMMAND ${CMAKE_COMMAND} -E echo
      "skipped: no valgrind, or a build with sanitizers")
    set_tests_properties(examples/${test}_under_valgrind PROPERTIES
      SKIP_REGULAR_EXPRESSION "^skipped")
  endif()
  set_tests_properties(examples/${test}_under_valgrind PROPERTIES TIMEOUT 600
    RESOURCE_LOCK valgrind ENVIRONMENT "OPENBLAS_NUM_THREADS=1;OMP_NUM_THREADS=1")
endfunction()

fire_example(classify c/classify.c)
fire_example(train c/train.c)
fire_example(train_workers c/train_workers.c)

# Four equal letters are a float32: "====" 0.05, ">>>>" 0.2, "????" 0.7, "@@@@" 3, "AAAA" 12,
# "BBBB" 49.
file(WRITE ${CMAKE_BINARY_DIR}/examples/scores.raw ">>>>AAAA====BBBB????@@@@")
fire_example_test(classify_sorts classify
  "class 3\n.*class 1\n.*class 5\n.*class 4\n.*class 0\n"
  ${CMAKE_SOURCE_DIR}/tests/api/softmax.prototxt - ${CMAKE_BINARY_DIR}/examples/scores.raw)
fire_example_test(classify classify
  "class [0-9]\n.*class [0-9]\n.*class [0-9]\n.*class [0-9]\n.*class [0-9]"
  ${CMAKE_SOURCE_DIR}/models/lenet/deploy.prototxt)

fire_example_memory_test(classify classify ${CMAKE_SOURCE_DIR}/models/lenet/deploy.prototxt)

# line.prototxt trains 100 iterations. The second test continues from the first one's
# snapshot; the three write the same files.
set(line ${CMAKE_SOURCE_DIR}/tests/api/line.prototxt)
fire_example_test(train train
  "iteration 0: test net 0: loss .*iteration 50: wrote line_iter_50.solverstate\n.*iteration 100: wrote line_iter_100.solverstate\n.*iteration 100: test net 0"
  ${line})
fire_example_test(train_continues train
  "^training from iteration 50 to 100\n.*iteration 100: wrote" ${line} line_iter_50.solverstate)
fire_example_test(train_workers train_workers
  "^2 workers, 4 lanes, batch 4\n.*iteration 100: wrote" ${line} 2 "lanes: 4")
set_tests_properties(examples/train examples/train_continues examples/train_workers
  PROPERTIES RESOURCE_LOCK line)
set_tests_properties(examples/train_continues PROPERTIES DEPENDS examples/train)

fire_example_memory_test(train train ${line})
fire_example_memory_test(train_workers train_workers ${line} 2 "lanes: 4")

# From C++, where there is a compiler for it. Cross-building, CMake would find this
# machine's.
if(NOT CMAKE_CROSSCOMPILING)
  include(CheckLanguage)
  check_language(CXX)
endif()
if(CMAKE_CXX_COMPILER)
  enable_language(CXX)
  fire_example(train_cpp cpp/train.cc)
  target_compile_features(example_train_cpp PRIVATE cxx_std_17)
  fire_example_test(train_cpp train_cpp "iteration 30: loss " ${line} 30)
  set_tests_properties(examples/train_cpp PROPERTIES RESOURCE_LOCK line)
  fire_example_memory_test(train_cpp train_cpp ${line} 30)
endif()

fire_gpu_test(training test_api --file test_training.c)
fire_gpu_test(views test_api --file test_views.c)
fire_gpu_test(trainer_views test_api --file test_trainer_views.c)
