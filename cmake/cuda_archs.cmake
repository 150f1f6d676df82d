# The GPU architectures of a build. A program holds machine code for each of them; this
# runs on GPUs of the same major version that are not older (code for 8.0 runs on 8.6). The
# PTX of the newest is compiled by the driver, at the program's start, for later GPUs.

# fire_cuda_archs(WANTED NVCC list flags): WANTED is a list as "75;80;90", or "all". Sets
# `list` to it in order, without doubles, and `flags` to nvcc's options.
function(fire_cuda_archs wanted nvcc list flags)
  execute_process(COMMAND ${nvcc} --list-gpu-arch OUTPUT_VARIABLE text ERROR_QUIET)
  string(REGEX MATCHALL "[0-9]+" known "${text}")
  set(archs "${wanted}")
  if(wanted STREQUAL "all")
    set(archs 75 80 86 89 90 100 120)
    foreach(a IN LISTS archs)
      if(known AND NOT a IN_LIST known) # an older nvcc
        list(REMOVE_ITEM archs ${a})
      endif()
    endforeach()
  endif()
  if(NOT archs)
    message(FATAL_ERROR "FIRE_CUDA_ARCHS is empty: write a list as 75;80;90, or all")
  endif()
  list(REMOVE_DUPLICATES archs)
  list(SORT archs COMPARE NATURAL)
  set(options "")
  foreach(a IN LISTS archs)
    if(NOT a MATCHES "^[0-9]+$" OR (known AND NOT a IN_LIST known))
      list(JOIN known " " text)
      message(FATAL_ERROR "FIRE_CUDA_ARCHS: ${nvcc} does not compile for \"${a}\"; write a list "
        "of these, separated by semicolons, or all: ${text}")
    endif()
    list(APPEND options -gencode=arch=compute_${a},code=sm_${a})
  endforeach()
  list(GET archs -1 a)
  list(APPEND options -gencode=arch=compute_${a},code=compute_${a})
  set(${list} "${archs}" PARENT_SCOPE)
  set(${flags} "${options}" PARENT_SCOPE)
endfunction()
