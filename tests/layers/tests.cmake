# Tests of data layers share the helpers of tests/data.
target_sources(test_layers_data PRIVATE ${CMAKE_SOURCE_DIR}/tests/data/rig.c)
target_include_directories(test_layers_data PRIVATE ${CMAKE_SOURCE_DIR}/tests/data)
