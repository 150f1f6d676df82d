# Builds the CUDA back end for the CPU (docs/design/0006-cuda-without-a-gpu.md): the threads
# of a block run as fibers, and device memory is memory that host code cannot access. Slow;
# finds wrong indices, missing barriers and reads of uninitialised values without a GPU.
enable_language(CXX)
set(emulator ${CMAKE_SOURCE_DIR}/tests/emulator)
add_library(cuda_emulator SHARED ${emulator}/runtime.c ${emulator}/launch.cc)
add_library(cublas_emulator SHARED ${emulator}/cublas.c)
add_library(nccl_emulator SHARED ${emulator}/nccl.c)
target_link_libraries(cublas_emulator cuda_emulator)
target_link_libraries(nccl_emulator cuda_emulator Threads::Threads)
set_target_properties(cublas_emulator PROPERTIES OUTPUT_NAME cublas SOVERSION 13)
set_target_properties(nccl_emulator PROPERTIES OUTPUT_NAME nccl SOVERSION 2)
foreach(target cuda_emulator cublas_emulator nccl_emulator)
  target_compile_options(${target} PRIVATE -O2)
  target_include_directories(${target} PRIVATE ${emulator})
  target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
  set_target_properties(${target} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/emulator)
endforeach()

set(FIRE_HAVE_CUDA ON)
set(FIRE_HAVE_CUDNN ON)
set(FIRE_HAVE_NCCL ON)
set(FIRE_EMULATED_SOURCES ${emulator}/conv_cudnn.c ${emulator}/virtual_memory.c) # for device/cuda/cudnn/, virtual_memory.c
set(FIRE_CUDA_CODE "75,80,90") # what the emulated GPU may be; EMULATOR_CAPABILITY chooses
set(FIRE_EMULATOR_LIBS ${CMAKE_BINARY_DIR}/emulator)
set(FIRE_CU_COMPILER ${CMAKE_CXX_COMPILER} -x c++ -std=c++17 -O2 -g -fPIC -ffp-contract=off
  -Wall -Wextra -Wno-unused-function -Wno-unknown-pragmas -Wno-missing-field-initializers -Wno-maybe-uninitialized
  -I${emulator} -include kernel.h)
list(APPEND FIRE_LIBS cuda_emulator dl stdc++)
list(PREPEND FIRE_INCLUDES ${emulator})
list(APPEND FIRE_DEFS FIRE_HAVE_CUDA=1 FIRE_HAVE_CUDNN=1 FIRE_HAVE_NCCL=1)
list(APPEND FIRE_FOUND "CUDA (emulated)")
