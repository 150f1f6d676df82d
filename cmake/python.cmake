# The Python package: the extension caffe._caffe, which uses the public headers and
# Python's stable ABI only, so that one build serves CPython 3.11 and all later ones, and
# the modules above it. The build folder has it ready: PYTHONPATH=build/python.
option(FIRE_PYTHON "build the Python package, where Python's headers are" ON)
set(FIRE_HAVE_PYTHON OFF)
if(FIRE_PYTHON)
  find_package(Python3 3.11 COMPONENTS Interpreter Development.Module QUIET)
  if(Python3_Development.Module_FOUND)
    set(FIRE_HAVE_PYTHON ON)
  endif()
endif()
if(NOT FIRE_HAVE_PYTHON)
  return()
endif()

set(python_build ${CMAKE_BINARY_DIR}/python)
file(GLOB python_c CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/python/src/*.c)
Python3_add_library(fire_python MODULE ${python_c})
set_target_properties(fire_python PROPERTIES OUTPUT_NAME _caffe PREFIX "" SUFFIX .abi3.so
  LIBRARY_OUTPUT_DIRECTORY ${python_build}/caffe
  BUILD_RPATH "$ORIGIN/../.." INSTALL_RPATH "$ORIGIN")
target_include_directories(fire_python PRIVATE ${CMAKE_SOURCE_DIR}/include)
target_compile_definitions(fire_python PRIVATE _GNU_SOURCE)
target_compile_options(fire_python PRIVATE -Wall -Wextra -Wno-missing-field-initializers
  -fvisibility=hidden $<$<BOOL:${FIRE_WERROR}>:-Werror>)
target_link_libraries(fire_python PRIVATE fire_shared)
if(FIRE_SAN)
  target_compile_options(fire_python PRIVATE -fsanitize=${FIRE_SAN} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  target_link_options(fire_python PRIVATE -fsanitize=${FIRE_SAN})
endif()

# caffe_pb2 makes its classes of the compiled schema.
find_program(PROTOC protoc REQUIRED)
set(python_made ${python_build}/caffe/proto/caffe.desc)
add_custom_command(OUTPUT ${python_made}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${python_build}/caffe/proto
  COMMAND ${PROTOC} --proto_path=${CMAKE_SOURCE_DIR}/proto
          --descriptor_set_out=${python_made} caffe.proto
  DEPENDS ${CMAKE_SOURCE_DIR}/proto/caffe.proto)

file(GLOB_RECURSE python_modules CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/python
  ${CMAKE_SOURCE_DIR}/python/*.py ${CMAKE_SOURCE_DIR}/python/*.pyi
  ${CMAKE_SOURCE_DIR}/python/py.typed)
foreach(f IN LISTS python_modules)
  add_custom_command(OUTPUT ${python_build}/${f}
    COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_SOURCE_DIR}/python/${f} ${python_build}/${f}
    DEPENDS ${CMAKE_SOURCE_DIR}/python/${f})
  list(APPEND python_made ${python_build}/${f})
  get_filename_component(folder ${f} DIRECTORY)
  install(FILES python/${f} DESTINATION ${folder} COMPONENT python EXCLUDE_FROM_ALL)
endforeach()
add_custom_target(python ALL DEPENDS ${python_made} fire_python)

# What a wheel holds (pyproject.toml): the library lies beside the extension.
install(TARGETS fire_python LIBRARY DESTINATION caffe COMPONENT python EXCLUDE_FROM_ALL)
install(FILES ${python_build}/caffe/proto/caffe.desc DESTINATION caffe/proto
  COMPONENT python EXCLUDE_FROM_ALL)
install(FILES $<TARGET_FILE:fire_shared> DESTINATION caffe COMPONENT python
  RENAME libfire.so.${FIRE_ABI} EXCLUDE_FROM_ALL)
if(FIRE_HAVE_OPENMP)
  install(FILES $<TARGET_FILE:fire_early> DESTINATION caffe COMPONENT python
    RENAME libfire_early.so.${FIRE_ABI} EXCLUDE_FROM_ALL)
endif()
foreach(kind IN LISTS FIRE_MPI_MODULES) # where libfire looks for them
  install(TARGETS fire_mpi_${kind} LIBRARY DESTINATION caffe/firecaffe COMPONENT python
    EXCLUDE_FROM_ALL)
endforeach()
