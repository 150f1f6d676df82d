# The cluster test as an MPI job: under Open MPI of 1..8 processes, under MPICH, which is slow
# where processes share cores, of 1..4.
function(fire_mpi_test kind most)
  cmake_parse_arguments(PARSE_ARGV 2 t "" "MARK" "NAMES;FLAGS")
  string(TOUPPER ${kind} KIND)
  if(NOT kind IN_LIST FIRE_MPI_MODULES)
    return()
  endif()
  foreach(name IN LISTS t_NAMES)
    find_program(launcher_${name} ${name})
    mark_as_advanced(launcher_${name})
    if(launcher_${name} AND NOT run)
      execute_process(COMMAND ${launcher_${name}} --version OUTPUT_VARIABLE version ERROR_QUIET)
      if(version MATCHES "${t_MARK}")
        set(run ${launcher_${name}} ${t_FLAGS})
      endif()
    endif()
  endforeach()
  if(NOT run)
    return()
  endif()
  # UCX, under MPICH, replaces calls of the system that ThreadSanitizer watches.
  set(environment "${mpi_environment}")
  if(FIRE_SAN MATCHES "thread")
    list(APPEND environment UCX_MEM_EVENTS=no)
  endif()
  foreach(n RANGE 1 ${most})
    add_test(NAME comm/${kind}/cluster_${n} COMMAND ${run} -n ${n} $<TARGET_FILE:test_comm_mpi> --here everything)
    set_tests_properties(comm/${kind}/cluster_${n} PROPERTIES LABELS "mpi;${kind}" TIMEOUT 300
      ENVIRONMENT "${environment}")
  endforeach()
  add_test(NAME comm/${kind}/stopped COMMAND ${run} -n 4 $<TARGET_FILE:test_comm_mpi> --here stops)
  set_tests_properties(comm/${kind}/stopped PROPERTIES LABELS "mpi;${kind}" TIMEOUT 60
    ENVIRONMENT "${environment};FIRE_TEST_STOP=1"
    PASS_REGULAR_EXPRESSION "rank 0 knows: [^\n]*from rank 2 [(]")
endfunction()
fire_mpi_test(openmpi 8 NAMES mpirun.openmpi mpirun MARK "Open MPI|OpenRTE"
  FLAGS --allow-run-as-root --oversubscribe)
fire_mpi_test(mpich 4 NAMES mpiexec.mpich mpiexec.hydra mpiexec MARK "HYDRA")
