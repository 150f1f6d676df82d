# The MPI modules: src/comm/transport/module/ is compiled once for each kind of MPI library
# whose mpi.h is found. Nothing is linked with MPI: libfire opens library and module when a
# job has several processes. Sets FIRE_MPI_MODULES (kinds, "openmpi;mpich"), FIRE_MPI_FOUND
# (with versions), and FIRE_OPENMPI_LIBDIR, FIRE_MPICH_LIBDIR where a library is in an
# unusual folder, in which libfire then looks too.
#
# An MPI elsewhere: -DMPI_C_COMPILER=/opt/mpi/bin/mpicc, or only its headers:
# -DFIRE_OPENMPI_INCLUDE=/opt/mpi/include, -DFIRE_MPICH_INCLUDE=...
option(FIRE_WITH_MPI "build modules for the MPI libraries whose headers are found" ON)
set(FIRE_MPI_MODULES "")
set(FIRE_MPI_FOUND "")

# fire_mpi_kind(FOLDER): whose mpi.h it has, in `kind`: openmpi, mpich or ""; and `version`.
function(fire_mpi_kind folder)
  set(kind "")
  set(version "")
  if(EXISTS ${folder}/mpi.h)
    file(STRINGS ${folder}/mpi.h lines
      REGEX "^# *define +(OMPI_(MAJOR|MINOR|RELEASE)_VERSION|MPICH_VERSION|I_MPI_VERSION) ")
    if(lines MATCHES "OMPI_MAJOR_VERSION +([0-9]+)")
      set(kind openmpi)
      set(version ${CMAKE_MATCH_1})
      foreach(part MINOR RELEASE)
        if(lines MATCHES "OMPI_${part}_VERSION +([0-9]+)")
          string(APPEND version .${CMAKE_MATCH_1})
        endif()
      endforeach()
    elseif(lines MATCHES "MPI(CH)?_VERSION +\"?([0-9.a-z]+)")
      set(kind mpich)
      set(version ${CMAKE_MATCH_2})
    endif()
  endif()
  set(kind "${kind}" PARENT_SCOPE)
  set(version "${version}" PARENT_SCOPE)
endfunction()

# fire_mpi_add(FOLDER [LIBRARY_FOLDERS]): take the headers of FOLDER, unless there are some of
# their kind already.
macro(fire_mpi_add folder)
  fire_mpi_kind(${folder})
  if(kind AND NOT kind IN_LIST FIRE_MPI_MODULES)
    string(TOUPPER ${kind} KIND)
    list(APPEND FIRE_MPI_MODULES ${kind})
    set(FIRE_${KIND}_FOLDER ${folder})
    string(REPLACE "openmpi" "Open MPI" title ${kind})
    string(REPLACE "mpich" "MPICH" title ${title})
    list(APPEND FIRE_MPI_FOUND "${title} ${version}")
    foreach(lib ${ARGN})
      file(GLOB files ${lib}/libmpi.so.40 ${lib}/libmpich.so.12 ${lib}/libmpi.so.12)
      if(files AND NOT lib MATCHES "^/(usr/)?lib(64)?(/[a-z0-9_]+-linux-gnu)?$")
        set(FIRE_${KIND}_LIBDIR ${lib})
      endif()
    endforeach()
  endif()
endmacro()

if(FIRE_WITH_MPI)
  foreach(folder ${FIRE_OPENMPI_INCLUDE} ${FIRE_MPICH_INCLUDE})
    fire_mpi_add(${folder})
  endforeach()
  # What the compilers of MPI libraries say, which are those of this machine.
  if(NOT CMAKE_CROSSCOMPILING)
    foreach(name ${MPI_C_COMPILER} mpicc.openmpi mpicc.mpich mpicc)
      find_program(FIRE_MPICC ${name})
      if(FIRE_MPICC)
        execute_process(COMMAND ${FIRE_MPICC} -show OUTPUT_VARIABLE shown ERROR_QUIET)
        string(REGEX MATCHALL " -I *[^ \n]+" includes "${shown}")
        string(REGEX MATCHALL " -L *[^ \n]+" libs "${shown}")
        string(REGEX REPLACE " -[IL] *" "" includes "${includes}")
        string(REGEX REPLACE " -[IL] *" "" libs "${libs}")
        foreach(folder IN LISTS includes)
          fire_mpi_add(${folder} ${libs})
        endforeach()
      endif()
      unset(FIRE_MPICC CACHE)
    endforeach()
  endif()
  # Where distributions have them.
  foreach(root "${CMAKE_SYSROOT}" ${CMAKE_FIND_ROOT_PATH})
    foreach(folder /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openmpi/include
        /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}/mpich /usr/include/openmpi-${CMAKE_SYSTEM_PROCESSOR}
        /usr/include/mpich-${CMAKE_SYSTEM_PROCESSOR} /usr/include)
      fire_mpi_add(${root}${folder})
    endforeach()
  endforeach()
endif()
