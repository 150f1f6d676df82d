# Tests of commands run the program.
foreach(d IN LISTS test_dirs)
  if(d MATCHES "^tools")
    string(REPLACE "/" "_" exe ${d})
    add_dependencies(test_${exe} firecaffe)
  endif()
endforeach()
