# One program. Under the names of Caffe's tools it behaves as they do.
file(GLOB FIRE_TOOL_SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tools/*.c)
if(FIRE_TOOL_SOURCES)
  add_executable(firecaffe ${FIRE_TOOL_SOURCES})
  target_link_libraries(firecaffe fire)
endif()
