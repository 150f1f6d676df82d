# The report in a real browser: skipped, with a word, where there is none.
find_program(FIRE_PYTHON3 python3)
if(FIRE_PYTHON3)
  foreach(name page results live series)
    add_test(NAME report/check_${name} COMMAND ${FIRE_PYTHON3} -B
      ${CMAKE_SOURCE_DIR}/tests/report/check_${name}.py $<TARGET_FILE:firecaffe>)
    set_tests_properties(report/check_${name} PROPERTIES TIMEOUT 600 SKIP_RETURN_CODE 77
      ENVIRONMENT "OPENBLAS_NUM_THREADS=1")
  endforeach()
endif()
