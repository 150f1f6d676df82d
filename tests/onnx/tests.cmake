# Layers are exported from the nets of tests/layers/cases.
target_sources(test_onnx PRIVATE ${CMAKE_SOURCE_DIR}/tests/layers/cases.c)
target_include_directories(test_onnx PRIVATE ${CMAKE_SOURCE_DIR}/tests/layers)
