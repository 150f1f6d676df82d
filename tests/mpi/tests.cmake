# Whole trainings through the program, as threads and under MPI launchers.
target_sources(test_mpi PRIVATE ${CMAKE_SOURCE_DIR}/tests/tools/program.c)
target_include_directories(test_mpi PRIVATE ${CMAKE_SOURCE_DIR}/tests/tools)
add_dependencies(test_mpi firecaffe example_train example_train_workers)
set_tests_properties(mpi/bits mpi/elastic mpi/kill mpi/library mpi/launchers mpi/memory PROPERTIES LABELS mpi RUN_SERIAL ON)
