# Layers are exported from the nets of tests/layers/cases.
target_sources(test_onnx PRIVATE ${CMAKE_SOURCE_DIR}/tests/layers/cases.c)
target_include_directories(test_onnx PRIVATE ${CMAKE_SOURCE_DIR}/tests/layers)
# With FIRE_ONNX_ALL all models go there and back.
set_tests_properties(onnx/import onnx/runtimes PROPERTIES TIMEOUT 6000)
