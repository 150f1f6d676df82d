# Fails unless a library holds machine code for each architecture of ARCHS ("75,80,90") and
# PTX of the last: cmake -DCUOBJDUMP= -DLIBRARY= -DARCHS= -P check_archs.cmake
execute_process(COMMAND ${CUOBJDUMP} --list-elf ${LIBRARY} OUTPUT_VARIABLE code
  RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "${CUOBJDUMP} --list-elf ${LIBRARY}: ${failed}")
endif()
execute_process(COMMAND ${CUOBJDUMP} --list-ptx ${LIBRARY} OUTPUT_VARIABLE ptx)
string(REPLACE "," ";" ARCHS "${ARCHS}")
foreach(a IN LISTS ARCHS)
  if(NOT code MATCHES "sm_${a}[^0-9a-z]")
    message(FATAL_ERROR "${LIBRARY} has no machine code of sm_${a}")
  endif()
endforeach()
list(GET ARCHS -1 a)
if(NOT ptx MATCHES "(sm|compute)_${a}[^0-9a-z]")
  message(FATAL_ERROR "${LIBRARY} has no PTX of ${a}")
endif()
