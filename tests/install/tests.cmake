# The installed program and library, as a stranger uses them.
add_test(NAME install/check COMMAND ${CMAKE_SOURCE_DIR}/tests/install/check
  ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR} ${CMAKE_COMMAND})
set(sanitize "")
if(FIRE_SAN)
  set(sanitize "-fsanitize=${FIRE_SAN}")
endif()
set_tests_properties(install/check PROPERTIES TIMEOUT 600 SKIP_RETURN_CODE 77
  ENVIRONMENT "SANITIZE=${sanitize};ASAN_OPTIONS=detect_leaks=0")
add_custom_target(install_check DEPENDS firecaffe fire_shared) # what the test needs
