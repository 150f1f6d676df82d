# Builds libFuzzer targets: tests/fuzz/fuzz_X.c becomes the program fuzz/X. Run it as
#   build/fuzz/X -max_total_time=60 NEW_INPUTS tests/fuzz/corpus/X
# The whole library is compiled again with the fuzzer's instrumentation.
if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "FIRE_FUZZ needs clang: cmake -DCMAKE_C_COMPILER=clang -DFIRE_FUZZ=ON")
endif()
# GCC defines __SANITIZE_ADDRESS__ itself: kernels are then compiled for one instruction set.
set(fuzz_flags -D__SANITIZE_ADDRESS__=1
  -fsanitize=fuzzer-no-link,address,undefined,float-cast-overflow -fno-sanitize-recover=all
  -fno-omit-frame-pointer -g -O1)
add_library(fire_fuzz STATIC ${FIRE_SOURCES} ${FIRE_PROTO_SOURCES} ${FIRE_PAGE}
  ${CMAKE_BINARY_DIR}/python_host.c)
target_compile_options(fire_fuzz PRIVATE ${fuzz_flags})
target_link_libraries(fire_fuzz PUBLIC fire_flags ${FIRE_LIBS})
add_dependencies(fire_fuzz fire_proto)

file(GLOB fuzz_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_*.c)
foreach(f IN LISTS fuzz_sources)
  get_filename_component(name ${f} NAME_WE)
  string(REPLACE "fuzz_" "" target ${name})
  add_executable(${name} ${f})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests/fuzz)
  target_compile_options(${name} PRIVATE ${fuzz_flags})
  target_link_libraries(${name} fire_fuzz)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer,address,undefined)
  set_target_properties(${name} PROPERTIES OUTPUT_NAME ${target}
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
endforeach()
