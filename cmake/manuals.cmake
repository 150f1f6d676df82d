# Man pages and completions for shells, which the program writes from its own tables. Where
# it cannot run, when cross-compiling, there are none.
if(NOT CMAKE_CROSSCOMPILING)
  set(stamp ${CMAKE_BINARY_DIR}/manuals.stamp)
  add_custom_command(
    OUTPUT ${stamp}
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${CMAKE_BINARY_DIR}/man ${CMAKE_BINARY_DIR}/completions
    # A build for a package has no rpath to libfire_early.
    COMMAND ${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${CMAKE_BINARY_DIR}:$ENV{LD_LIBRARY_PATH}
            $<TARGET_FILE:firecaffe> manual ${CMAKE_BINARY_DIR} --quiet
    COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
    DEPENDS firecaffe
    COMMENT "Writing man pages and completions"
    VERBATIM)
  add_custom_target(manuals ALL DEPENDS ${stamp})
endif()
