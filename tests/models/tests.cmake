# The nets are text: a script checks them without the library.
find_program(FIRE_PYTHON3 python3)
if(FIRE_PYTHON3)
  add_test(NAME models/files COMMAND ${FIRE_PYTHON3} -B
    ${CMAKE_SOURCE_DIR}/tests/models/test_models.py)
endif()
