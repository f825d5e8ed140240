# LEAKGATE_SYSTEM_FOLDERS: the names of the folders that hold what depends on the system (runner/), and
# LEAKGATE_PROCESSOR: the processor that the build is for, as the folders are named that hold what
# depends on it (plugin/agent/arch/, runner/arch/).
string(TOLOWER "${CMAKE_SYSTEM_PROCESSOR}" LEAKGATE_PROCESSOR)
if(LEAKGATE_PROCESSOR STREQUAL "amd64")
  set(LEAKGATE_PROCESSOR x86_64)
elseif(LEAKGATE_PROCESSOR STREQUAL "arm64")
  set(LEAKGATE_PROCESSOR aarch64)
endif()
if(NOT IS_DIRECTORY ${PROJECT_SOURCE_DIR}/plugin/agent/arch/${LEAKGATE_PROCESSOR})
  message(FATAL_ERROR "leakgate cannot trace programs on ${CMAKE_SYSTEM_PROCESSOR} yet: build it on x86-64 or aarch64, "
                      "or only its listener with -DLEAKGATE_BUILD_RUNNER=OFF")
endif()
if(WIN32)
  set(LEAKGATE_SYSTEM_FOLDERS nt)
else()
  set(LEAKGATE_SYSTEM_FOLDERS linux elf ${LEAKGATE_PROCESSOR})
endif()
