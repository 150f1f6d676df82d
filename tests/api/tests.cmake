# The examples are programs of other people: public headers and libfire.so only.
add_executable(example_classify ${CMAKE_SOURCE_DIR}/examples/c/classify.c)
target_include_directories(example_classify PRIVATE ${CMAKE_SOURCE_DIR}/include)
target_link_libraries(example_classify PRIVATE fire_shared)
if(FIRE_SAN)
  target_link_options(example_classify PRIVATE -fsanitize=${FIRE_SAN})
endif()
set_target_properties(example_classify PROPERTIES OUTPUT_NAME classify
  RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/examples)
# Four equal letters are a float32: "====" 0.05, ">>>>" 0.2, "????" 0.7, "@@@@" 3, "AAAA" 12,
# "BBBB" 49.
file(WRITE ${CMAKE_BINARY_DIR}/examples/scores.raw ">>>>AAAA====BBBB????@@@@")
add_test(NAME examples/classify_sorts COMMAND example_classify
  ${CMAKE_SOURCE_DIR}/tests/api/softmax.prototxt - ${CMAKE_BINARY_DIR}/examples/scores.raw)
set_tests_properties(examples/classify_sorts PROPERTIES TIMEOUT 300
  PASS_REGULAR_EXPRESSION "class 3\n.*class 1\n.*class 5\n.*class 4\n.*class 0\n"
  ENVIRONMENT "OPENBLAS_NUM_THREADS=1;OMP_NUM_THREADS=1")
add_test(NAME examples/classify COMMAND example_classify
  ${CMAKE_SOURCE_DIR}/models/lenet/deploy.prototxt)
set_tests_properties(examples/classify PROPERTIES TIMEOUT 300
  PASS_REGULAR_EXPRESSION "class [0-9]\n.*class [0-9]\n.*class [0-9]\n.*class [0-9]\n.*class [0-9]"
  ENVIRONMENT "OPENBLAS_NUM_THREADS=1;OMP_NUM_THREADS=1")
