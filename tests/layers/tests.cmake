# Tests of data layers share the helpers of tests/data.
target_sources(test_layers_data PRIVATE ${CMAKE_SOURCE_DIR}/tests/data/rig.c)
target_include_directories(test_layers_data PRIVATE ${CMAKE_SOURCE_DIR}/tests/data)

# What a lean net gives is compared with what `ref` gives.
target_sources(test_net PRIVATE ${CMAKE_SOURCE_DIR}/tests/layers/twins.c)
target_include_directories(test_net PRIVATE ${CMAKE_SOURCE_DIR}/tests/layers)
