# Every fuzz target runs over its corpus as an ordinary test, with any compiler.
file(GLOB replay_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_*.c)
foreach(f IN LISTS replay_sources)
  get_filename_component(name ${f} NAME_WE)
  string(REPLACE "fuzz_" "" target ${name})
  add_executable(replay_${target} ${f} ${CMAKE_SOURCE_DIR}/tests/fuzz/replay.c)
  target_include_directories(replay_${target} PRIVATE ${CMAKE_SOURCE_DIR}/tests/fuzz)
  target_link_libraries(replay_${target} fire)
  set_target_properties(replay_${target} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME fuzz/${target}
    COMMAND replay_${target} ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/${target})
endforeach()
