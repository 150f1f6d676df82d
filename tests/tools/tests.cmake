# Tests of commands run the program; the rooms below tests/tools share its helpers.
foreach(d IN LISTS test_dirs)
  if(d MATCHES "^tools")
    string(REPLACE "/" "_" exe ${d})
    add_dependencies(test_${exe} firecaffe)
    if(NOT d STREQUAL "tools")
      target_sources(test_${exe} PRIVATE ${CMAKE_SOURCE_DIR}/tests/tools/fixture.c
        ${CMAKE_SOURCE_DIR}/tests/tools/program.c)
      target_include_directories(test_${exe} PRIVATE ${CMAKE_SOURCE_DIR}/tests/tools)
    endif()
  endif()
endforeach()
