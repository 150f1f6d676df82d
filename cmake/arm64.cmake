# CMake's toolchain file for Debian arm64, used by ./dev arm64: cross-compiles against the
# packages that packaging/arm64_sysroot has unpacked into FIRE_SYSROOT, and runs tests
# under qemu.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES FIRE_SYSROOT)
set(CMAKE_SYSROOT ${FIRE_SYSROOT})
set(CMAKE_FIND_ROOT_PATH ${FIRE_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER) # protoc-c runs here
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${FIRE_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR}
  ${FIRE_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${FIRE_SYSROOT}/usr/share/pkgconfig)

# The library path: the program is linked by the cross compiler, whose own C library need
# not be in the sysroot's place.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L ${FIRE_SYSROOT})
