# The Python package, by the interpreters that are here (tests/python/run).
if(FIRE_HAVE_PYTHON)
  file(GLOB python_tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/python/test_*.py)
  foreach(f IN LISTS python_tests)
    get_filename_component(name ${f} NAME_WE)
    string(REGEX REPLACE "^test_" "" name ${name})
    add_test(NAME python/${name} COMMAND ${CMAKE_SOURCE_DIR}/tests/python/run
      ${CMAKE_BINARY_DIR} ${f})
    set_tests_properties(python/${name} PROPERTIES TIMEOUT ${test_seconds} SKIP_RETURN_CODE 77
      ENVIRONMENT "OPENBLAS_NUM_THREADS=1;OMP_NUM_THREADS=1")
    if(FIRE_SAN) # an interpreter is built without sanitizers
      string(REGEX REPLACE ",.*" "" first "${FIRE_SAN}")
      string(SUBSTRING ${first} 0 1 letter)
      execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=lib${letter}san.so
        OUTPUT_VARIABLE preload OUTPUT_STRIP_TRAILING_WHITESPACE)
      set_property(TEST python/${name} APPEND PROPERTY ENVIRONMENT
        "PYTHON_PRELOAD=${preload};ASAN_OPTIONS=detect_leaks=0")
    endif()
  endforeach()
  if(FIRE_CUDA_EMULATOR)
    foreach(name net solver python_layer)
      fire_gpu_test(python_${name} ${CMAKE_SOURCE_DIR}/tests/python/run ${CMAKE_BINARY_DIR}
        ${CMAKE_SOURCE_DIR}/tests/python/test_${name}.py)
    endforeach()
  endif()
endif()
