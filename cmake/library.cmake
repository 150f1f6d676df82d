# libfire: every .c file below src/, without those whose library is missing. The name of
# a file tells which library it needs: *_onednn.c, *_hdf5.c, *_cuda.c, ... MPI's modules
# are libraries of their own.
file(GLOB_RECURSE FIRE_SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/*.c)
list(FILTER FIRE_SOURCES EXCLUDE REGEX "/comm/transport/module/|/device/cpu/early\\.c$")
foreach(lib leveldb hdf5 jpeg png onednn cuda cudnn nccl)
  string(TOUPPER ${lib} LIB)
  if(NOT FIRE_HAVE_${LIB})
    list(FILTER FIRE_SOURCES EXCLUDE REGEX "/([a-z0-9_]*_)?${lib}\\.c$")
  endif()
endforeach()

if(NOT FIRE_HAVE_CUDA)
  list(FILTER FIRE_SOURCES EXCLUDE REGEX "/device/cuda/")
endif()
if(FIRE_CUDA_EMULATOR)
  list(FILTER FIRE_SOURCES EXCLUDE REGEX "/device/cuda/(cudnn/|virtual_memory)")
  list(APPEND FIRE_SOURCES ${FIRE_EMULATED_SOURCES})
endif()

# protobuf-c names the header of every message struct "base", and some of Caffe's messages
# have a field of that name. A copy of the schema renames the header in these, so that
# proto/caffe.proto needs no protobuf-c options and suits every other compiler.
set(PROTO_DIR ${CMAKE_BINARY_DIR}/proto)
find_path(PROTOBUF_C_INCLUDE protobuf-c/protobuf-c.proto REQUIRED)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/proto/caffe.proto)
file(READ ${CMAKE_SOURCE_DIR}/proto/caffe.proto schema)
string(REPLACE "package caffe;" "package caffe;\nimport \"protobuf-c/protobuf-c.proto\";" schema "${schema}")
string(REGEX REPLACE "message (Exp|Log|MarginInnerProduct)Parameter {"
  "message \\1Parameter {\n  option (pb_c_msg).base_field_name = \"header\";" schema "${schema}")
file(WRITE ${PROTO_DIR}/schema/caffe.proto.new "${schema}")
configure_file(${PROTO_DIR}/schema/caffe.proto.new ${PROTO_DIR}/schema/caffe.proto COPYONLY)
add_custom_command(
  OUTPUT ${PROTO_DIR}/caffe.pb-c.c ${PROTO_DIR}/caffe.pb-c.h
  COMMAND ${PROTOC_C} --proto_path=${PROTO_DIR}/schema --proto_path=${PROTOBUF_C_INCLUDE}
          --c_out=${PROTO_DIR} caffe.proto
  DEPENDS ${PROTO_DIR}/schema/caffe.proto)
add_custom_command(
  OUTPUT ${PROTO_DIR}/onnx.pb-c.c ${PROTO_DIR}/onnx.pb-c.h
  COMMAND ${PROTOC_C} --proto_path=${CMAKE_SOURCE_DIR}/proto --c_out=${PROTO_DIR} onnx.proto
  DEPENDS ${CMAKE_SOURCE_DIR}/proto/onnx.proto)
set(FIRE_PROTO_SOURCES ${PROTO_DIR}/caffe.pb-c.c ${PROTO_DIR}/onnx.pb-c.c)
add_custom_target(fire_proto DEPENDS ${PROTO_DIR}/caffe.pb-c.h ${PROTO_DIR}/onnx.pb-c.h)

# The report's page is compiled into the library.
file(GLOB FIRE_PAGE_PARTS CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/report/*)
set(FIRE_PAGE ${CMAKE_BINARY_DIR}/report_page.c)
add_custom_command(OUTPUT ${FIRE_PAGE}
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR}/report -DOUT=${FIRE_PAGE}
          -P ${CMAKE_SOURCE_DIR}/cmake/embed_page.cmake
  DEPENDS ${FIRE_PAGE_PARTS} ${CMAKE_SOURCE_DIR}/cmake/embed_page.cmake)

# So is the Python side of the Python layer.
set(python_host ${CMAKE_SOURCE_DIR}/src/layers/python/python_host.py)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${python_host})
file(READ ${python_host} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/python_host.c @ONLY
  CONTENT "extern const char fire_python_host[];\nconst char fire_python_host[] = {${bytes}0};\n")

add_library(fire_flags INTERFACE)
target_include_directories(fire_flags INTERFACE ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/src)
target_include_directories(fire_flags SYSTEM INTERFACE ${PROTO_DIR} ${FIRE_INCLUDES})
target_compile_definitions(fire_flags INTERFACE _GNU_SOURCE ${FIRE_DEFS}
  FIRE_VERSION="${PROJECT_VERSION}")
# -ffp-contract=off: a*b+c is rounded twice on every machine, as in Caffe's builds.
# No code reads errno of math functions or traps of arithmetic; without them the compiler
# vectorises more loops.
target_compile_options(fire_flags INTERFACE -Wall -Wextra -Wshadow -Wvla -Wstrict-prototypes
  -Wmissing-prototypes -Wno-missing-field-initializers -ffp-contract=off
  $<$<C_COMPILER_ID:GNU>:-Wno-format-truncation;-Wno-psabi>
  -fno-math-errno -fno-trapping-math
  $<$<NOT:$<BOOL:${FIRE_HAVE_OPENMP}>>:-Wno-unknown-pragmas>
  $<$<BOOL:${FIRE_WERROR}>:-Werror>)
if(FIRE_SAN)
  target_compile_options(fire_flags INTERFACE -fsanitize=${FIRE_SAN} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  target_link_options(fire_flags INTERFACE -fsanitize=${FIRE_SAN})
endif()

# CUDA: nvcc compiles every .cu file below src/. They are C++ inside and export C names
# only. CUDA is not a CMake language here, because that needs a C++ compiler even where
# there is no CUDA.
set(FIRE_CUDA_OBJECTS "")
if(FIRE_HAVE_CUDA)
  file(GLOB_RECURSE cu_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/*.cu)
  foreach(f IN LISTS cu_files)
    file(RELATIVE_PATH name ${CMAKE_SOURCE_DIR}/src ${f})
    string(REPLACE "/" "_" name ${name})
    set(object ${CMAKE_BINARY_DIR}/cuda/${name}.o)
    add_custom_command(OUTPUT ${object}
      COMMAND ${CMAKE_C_COMPILER_LAUNCHER} ${FIRE_CU_COMPILER} -DFIRE_HAVE_CUDA=1
              -I${CMAKE_SOURCE_DIR}/include -I${CMAKE_SOURCE_DIR}/src
              -I${PROTO_DIR} -I${PROTOBUF_C_INCLUDE}
              -MD -MF ${object}.d -c ${f} -o ${object}
      DEPENDS ${f} fire_proto DEPFILE ${object}.d VERBATIM)
    list(APPEND FIRE_CUDA_OBJECTS ${object})
  endforeach()
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/cuda)
  set_source_files_properties(${CMAKE_SOURCE_DIR}/src/device/cuda/device.c
    PROPERTIES COMPILE_DEFINITIONS "FIRE_CUDA_CODE=\"${FIRE_CUDA_CODE}\"")
endif()

# Modules, opened at run time from lib/firecaffe (src/base/installed.h).
foreach(kind IN LISTS FIRE_MPI_MODULES)
  string(TOUPPER ${kind} KIND)
  add_library(fire_mpi_${kind} MODULE ${CMAKE_SOURCE_DIR}/src/comm/transport/module/module.c)
  target_include_directories(fire_mpi_${kind} SYSTEM PRIVATE ${FIRE_${KIND}_FOLDER})
  target_link_libraries(fire_mpi_${kind} PRIVATE fire_flags)
  target_compile_options(fire_mpi_${kind} PRIVATE -fvisibility=hidden)
  set_target_properties(fire_mpi_${kind} PROPERTIES PREFIX ""
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/firecaffe)
  if(FIRE_${KIND}_LIBDIR)
    set_property(SOURCE ${CMAKE_SOURCE_DIR}/src/comm/transport/load_mpi.c APPEND PROPERTY
      COMPILE_DEFINITIONS FIRE_${KIND}_LIBDIR="${FIRE_${KIND}_LIBDIR}")
  endif()
endforeach()
# The number in libfire.so.N and in the version FIRE_N of its symbols: raised when programs
# have to be compiled again.
set(FIRE_ABI 0)

# The last library to be linked with is initialised first (src/device/cpu/early.h).
if(FIRE_HAVE_OPENMP)
  add_library(fire_early SHARED ${CMAKE_SOURCE_DIR}/src/device/cpu/early.c)
  target_link_libraries(fire_early PRIVATE fire_flags)
  target_compile_options(fire_early PRIVATE -fvisibility=hidden)
  set_target_properties(fire_early PROPERTIES SOVERSION ${FIRE_ABI})
  list(APPEND FIRE_LIBS ${OpenMP_C_LIBRARIES} fire_early) # by path, or CMake puts libgomp last
endif()

include(GNUInstallDirs)
set_property(SOURCE ${CMAKE_SOURCE_DIR}/src/base/installed.c APPEND PROPERTY
  COMPILE_DEFINITIONS FIRE_LIBDIR="${CMAKE_INSTALL_LIBDIR}")

add_library(fire_objects OBJECT ${FIRE_SOURCES} ${FIRE_PROTO_SOURCES} ${FIRE_PAGE}
  ${CMAKE_BINARY_DIR}/python_host.c)
set_source_files_properties(${FIRE_PROTO_SOURCES} PROPERTIES COMPILE_OPTIONS "-w;-O1")
# Winograd's kernels are written for AVX-512 alone and their rounding differs from Caffe's
# anyway, so they may use fused multiply-adds.
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/layers/conv/winograd/f32.c
  ${CMAKE_SOURCE_DIR}/src/layers/conv/winograd/f64.c
  PROPERTIES COMPILE_OPTIONS -ffp-contract=fast)
target_compile_options(fire_objects PRIVATE -fvisibility=hidden)
target_link_libraries(fire_objects PUBLIC fire_flags ${FIRE_LIBS})
add_dependencies(fire_objects fire_proto)
foreach(kind IN LISTS FIRE_MPI_MODULES)
  add_dependencies(fire_objects fire_mpi_${kind}) # whoever builds libfire can use it
endforeach()

add_library(fire STATIC $<TARGET_OBJECTS:fire_objects> ${FIRE_CUDA_OBJECTS})       # program and tests
target_link_libraries(fire PUBLIC fire_flags ${FIRE_LIBS})
add_library(fire_shared SHARED $<TARGET_OBJECTS:fire_objects> ${FIRE_CUDA_OBJECTS}) # other programs
set_target_properties(fire_shared PROPERTIES OUTPUT_NAME fire VERSION ${PROJECT_VERSION}
  SOVERSION ${FIRE_ABI})
target_link_libraries(fire_shared PRIVATE fire_flags ${FIRE_LIBS})

# Export what include/fire marks and nothing else. -fvisibility=hidden is not enough: it
# does not hide functions that are compiled for several instruction sets (target_clones).
file(GLOB FIRE_HEADERS CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/include/fire/*.h)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${FIRE_HEADERS})
set(exports "")
foreach(header IN LISTS FIRE_HEADERS)
  file(READ ${header} text)
  string(REGEX MATCHALL "FIRE_(API|CALL)[ \n][^(;#]*fire_[a-z0-9_]+\\(" marks "${text}")
  foreach(mark IN LISTS marks)
    string(REGEX REPLACE ".*[^a-z0-9_](fire_[a-z0-9_]+)\\($" "\\1;" name "${mark}")
    string(APPEND exports "    ${name}\n")
  endforeach()
endforeach()
file(WRITE ${CMAKE_BINARY_DIR}/exports.map "FIRE_${FIRE_ABI} {\n  global:\n${exports}  local: *;\n};\n")
target_link_options(fire_shared PRIVATE LINKER:--version-script=${CMAKE_BINARY_DIR}/exports.map)
set_target_properties(fire_shared PROPERTIES LINK_DEPENDS ${CMAKE_BINARY_DIR}/exports.map)

# Programs that contain the library and load plug-ins (fire_host) show them the same
# functions: exports.ld pulls them out of the archive, exports.list makes them visible.
string(REPLACE "    fire_" " fire_" extern "${exports}")
string(REGEX REPLACE "\n|;" " " extern "${extern}")
file(WRITE ${CMAKE_BINARY_DIR}/exports.ld "EXTERN(${extern})\n")
file(WRITE ${CMAKE_BINARY_DIR}/exports.list "{\n${exports}};\n")
add_library(fire_host INTERFACE)
target_link_libraries(fire_host INTERFACE fire)
target_link_options(fire_host INTERFACE ${CMAKE_BINARY_DIR}/exports.ld
  LINKER:--dynamic-list=${CMAKE_BINARY_DIR}/exports.list)
