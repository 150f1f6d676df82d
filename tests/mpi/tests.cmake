# Whole trainings through the program, as threads and under mpirun.
target_sources(test_mpi PRIVATE ${CMAKE_SOURCE_DIR}/tests/tools/program.c)
target_include_directories(test_mpi PRIVATE ${CMAKE_SOURCE_DIR}/tests/tools)
add_dependencies(test_mpi firecaffe)
set_tests_properties(mpi/bits mpi/kill PROPERTIES LABELS mpi RUN_SERIAL ON)
