# A toolchain file: builds for aarch64 elsewhere, by Debian's cross compiler, with the headers and libraries of
# an arm64 root that ci/aarch64 makes. LEAKGATE_ARM_ROOT, of CMake or of the environment, is its folder.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
if(NOT LEAKGATE_ARM_ROOT)
  set(LEAKGATE_ARM_ROOT "$ENV{LEAKGATE_ARM_ROOT}" CACHE PATH "The arm64 root" FORCE)  # also when it is configured again
endif()
if(NOT LEAKGATE_ARM_ROOT)
  message(FATAL_ERROR "LEAKGATE_ARM_ROOT is not set: it names the arm64 root that ci/aarch64 makes, build/aarch64/machine/root")
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES LEAKGATE_ARM_ROOT)
set(CMAKE_SYSROOT ${LEAKGATE_ARM_ROOT})
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
