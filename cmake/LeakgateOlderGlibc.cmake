# A toolchain file: programs and libraries are linked with the C library in LEAKGATE_SYSROOT, which is older than
# this system's, so that they run wherever there is that one or a later one. All else is this system's: compiler,
# headers, static libraries. What these want of a later C library is in LEAKGATE_OLDER_GLIBC (older_glibc.c).
# With LEAKGATE_ARM_ROOT it is for aarch64: then "this system" is that root, and Debian's cross compiler.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES LEAKGATE_SYSROOT LEAKGATE_OLDER_GLIBC LEAKGATE_ARM_ROOT)
set(leakgate_libraries ${LEAKGATE_SYSROOT}/usr/lib/x86_64-linux-gnu)
if(LEAKGATE_ARM_ROOT)
  include(${CMAKE_CURRENT_LIST_DIR}/LeakgateAarch64.cmake)
  set(leakgate_libraries ${LEAKGATE_SYSROOT}/usr/lib/aarch64-linux-gnu)
  # leakgate writes its manual pages itself. All files but the libraries are this system's.
  set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static ${LEAKGATE_ARM_ROOT}/lib/ld-linux-aarch64.so.1
      --library-path ${LEAKGATE_ARM_ROOT}/lib/aarch64-linux-gnu)
  # Boost.Asio's headers have their own paths in the program.
  set(CMAKE_CXX_FLAGS_INIT -fmacro-prefix-map=${LEAKGATE_ARM_ROOT}=)
endif()
set(leakgate_link "--sysroot=${LEAKGATE_SYSROOT} -B${leakgate_libraries} -L${leakgate_libraries}")
set(CMAKE_MODULE_LINKER_FLAGS_INIT "${leakgate_link}")
set(CMAKE_EXE_LINKER_FLAGS_INIT "${leakgate_link} -static-libstdc++ -static-libgcc ${LEAKGATE_OLDER_GLIBC}")
set(CMAKE_CXX_STANDARD_LIBRARIES_INIT "-ldl -lpthread -lrt")
