# One program. Under the names of Caffe's tools it behaves as they do.
file(GLOB FIRE_TOOL_SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tools/*.c)
add_executable(firecaffe ${FIRE_TOOL_SOURCES})
target_link_libraries(firecaffe fire)
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
