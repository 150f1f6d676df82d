# One program. Under the names of Caffe's tools it behaves as they do.
file(GLOB FIRE_TOOL_SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tools/*.c)
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
target_link_libraries(firecaffe fire)
if(FIRE_HAVE_MICROHTTPD)
  target_compile_definitions(firecaffe PRIVATE FIRE_HAVE_MICROHTTPD=1)
  target_include_directories(firecaffe SYSTEM PRIVATE ${MICROHTTPD_INCLUDE})
  target_link_libraries(firecaffe ${MICROHTTPD_LIB})
endif()
# `./dev bundle` puts libraries into ../lib. RPATH, not RUNPATH: it must hold for
# the libraries' own libraries too.
target_link_options(firecaffe PRIVATE "LINKER:-rpath,$ORIGIN/../lib" "LINKER:--disable-new-dtags")

file(STRINGS ${CMAKE_SOURCE_DIR}/tools/names.def names REGEX "^NAME")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tools/names.def)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/tools)
foreach(line IN LISTS names)
  string(REGEX REPLACE "^NAME\\(([a-z_]+),.*" "\\1" name "${line}")
  file(CREATE_LINK ../firecaffe ${CMAKE_BINARY_DIR}/tools/${name} SYMBOLIC)
endforeach()
