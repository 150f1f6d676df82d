# Measuring a machine takes workers: those of the collectives' tests.
target_sources(test_plan PRIVATE ${CMAKE_SOURCE_DIR}/tests/comm/ranks.c)
target_include_directories(test_plan PRIVATE ${CMAKE_SOURCE_DIR}/tests/comm)
