# Man pages and completions for shells, which the program writes from its own tables. Where
# it cannot run, when cross-compiling, there are none.
if(NOT CMAKE_CROSSCOMPILING)
  set(stamp ${CMAKE_BINARY_DIR}/manuals.stamp)
  add_custom_command(
    OUTPUT ${stamp}
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${CMAKE_BINARY_DIR}/man ${CMAKE_BINARY_DIR}/completions
    COMMAND firecaffe manual ${CMAKE_BINARY_DIR} --quiet
    COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
    DEPENDS firecaffe
    COMMENT "Writing man pages and completions"
    VERBATIM)
  add_custom_target(manuals ALL DEPENDS ${stamp})
endif()
