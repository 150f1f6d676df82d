# The real code on a simulated cluster; skipped without SimGrid.
if(NOT FIRE_SAN)
  add_test(NAME sim/simgrid COMMAND ${CMAKE_SOURCE_DIR}/tests/sim/check_simgrid.sh)
  set_tests_properties(sim/simgrid PROPERTIES SKIP_RETURN_CODE 77
    ENVIRONMENT "FIRE=$<TARGET_FILE:firecaffe>;DIR=${CMAKE_BINARY_DIR}/sim_test")
endif()
