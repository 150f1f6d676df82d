# One program, with links under the names of Caffe's tools: called by such a name it takes
# that tool's arguments.
file(GLOB_RECURSE FIRE_TOOL_SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tools/*.c)
# The live report needs libmicrohttpd; nothing else does, so only the program has it.
option(FIRE_WITH_MICROHTTPD "use libmicrohttpd where it is found" ON)
find_library(MICROHTTPD_LIB microhttpd)
find_path(MICROHTTPD_INCLUDE microhttpd.h)
if(FIRE_WITH_MICROHTTPD AND MICROHTTPD_LIB AND MICROHTTPD_INCLUDE)
  set(FIRE_HAVE_MICROHTTPD ON)
  list(APPEND FIRE_FOUND "libmicrohttpd")
else()
  set(FIRE_HAVE_MICROHTTPD OFF)
  list(FILTER FIRE_TOOL_SOURCES EXCLUDE REGEX "_microhttpd\\.c$")
  list(APPEND FIRE_MISSING "libmicrohttpd")
endif()

add_executable(firecaffe ${FIRE_TOOL_SOURCES})
target_link_libraries(firecaffe fire_host)
set_target_properties(firecaffe PROPERTIES LINK_DEPENDS ${CMAKE_BINARY_DIR}/exports.list)
target_include_directories(firecaffe PRIVATE ${CMAKE_SOURCE_DIR}/tools ${CMAKE_BINARY_DIR})
if(FIRE_HAVE_MICROHTTPD)
  target_compile_definitions(firecaffe PRIVATE FIRE_HAVE_MICROHTTPD=1)
  target_include_directories(firecaffe SYSTEM PRIVATE ${MICROHTTPD_INCLUDE})
  target_link_libraries(firecaffe ${MICROHTTPD_LIB})
endif()

file(STRINGS ${CMAKE_SOURCE_DIR}/tools/names.def names REGEX "^NAME")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tools/names.def)
# Caffe's examples call its programs where its build leaves them: caffe and caffe.bin in
# build/tools, some in a folder of build/examples.
set(example_folders convert_cifar_data=cifar10 convert_mnist_data=mnist
  convert_mnist_siamese_data=siamese classification=cpp_classification)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/tools)
foreach(line IN LISTS names)
  string(REGEX REPLACE "^NAME\\(([a-z_.]+),.*" "\\1" name "${line}")
  file(CREATE_LINK ../firecaffe ${CMAKE_BINARY_DIR}/tools/${name} SYMBOLIC)
  if(name MATCHES "\\.")
    continue() # a script
  endif()
  file(CREATE_LINK ../firecaffe ${CMAKE_BINARY_DIR}/tools/${name}.bin SYMBOLIC)
  if("${example_folders}" MATCHES "(^|;)${name}=([a-z0-9_]+)")
    set(folder ${CMAKE_BINARY_DIR}/examples/${CMAKE_MATCH_2})
    file(MAKE_DIRECTORY ${folder})
    file(CREATE_LINK ../../firecaffe ${folder}/${name} SYMBOLIC)
    file(CREATE_LINK ../../firecaffe ${folder}/${name}.bin SYMBOLIC)
  endif()
endforeach()
