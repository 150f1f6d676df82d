# The cluster test as an MPI job of 1..8 processes.
if(FIRE_HAVE_MPI AND MPIEXEC_EXECUTABLE)
  execute_process(COMMAND ${MPIEXEC_EXECUTABLE} --version OUTPUT_VARIABLE mpi_kind ERROR_QUIET)
  set(mpi_run ${MPIEXEC_EXECUTABLE})
  if(mpi_kind MATCHES "Open MPI|OpenRTE")
    list(APPEND mpi_run --allow-run-as-root --oversubscribe)
  endif()
  foreach(n RANGE 1 8)
    add_test(NAME comm/mpi/cluster_${n} COMMAND ${mpi_run} -n ${n} $<TARGET_FILE:test_comm_mpi> --here everything)
    set_tests_properties(comm/mpi/cluster_${n} PROPERTIES LABELS mpi TIMEOUT 300
      ENVIRONMENT "${mpi_environment}")
  endforeach()
  add_test(NAME comm/mpi/stopped COMMAND ${mpi_run} -n 4 $<TARGET_FILE:test_comm_mpi> --here stops)
  set_tests_properties(comm/mpi/stopped PROPERTIES LABELS mpi TIMEOUT 60
    ENVIRONMENT "${mpi_environment};FIRE_TEST_STOP=1"
    PASS_REGULAR_EXPRESSION "rank 0 knows: [^\n]*from rank 2 [(]")
endif()
