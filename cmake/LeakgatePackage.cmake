# What `cpack` makes of an installation: leakgate, which runs binaries as they are,
# and leakgate-dev, with the listener and the CMake package, as two .deb files; both
# in one .tar.gz, which works wherever it is unpacked.
set(CPACK_GENERATOR DEB TGZ)
if(WIN32)
  set(CPACK_GENERATOR ZIP)
  set(CPACK_PACKAGE_FILE_NAME leakgate-${PROJECT_VERSION}-windows-${LEAKGATE_PROCESSOR})
endif()
set(CPACK_PACKAGE_NAME leakgate)
set(CPACK_PACKAGE_VENDOR "the leakgate authors")
set(CPACK_PACKAGE_CONTACT "the leakgate authors <leakgate@localhost>")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_COMPONENTS_ALL dev)
if(LEAKGATE_BUILD_RUNNER)
  list(APPEND CPACK_COMPONENTS_ALL runner)
endif()

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
if(CMAKE_CROSSCOMPILING)
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)  # else CPack asks this system's dpkg
endif()
set(CPACK_DEBIAN_RUNNER_PACKAGE_NAME leakgate)
if(LEAKGATE_SYSROOT)  # ci/package, which checks that this is what it depends on
  set(CPACK_PACKAGE_FILE_NAME leakgate-${PROJECT_VERSION}-linux-${LEAKGATE_PROCESSOR})
  set(CPACK_DEBIAN_RUNNER_PACKAGE_DEPENDS "libc6 (>= 2.31)")
else()
  set(CPACK_DEBIAN_RUNNER_PACKAGE_SHLIBDEPS ON)
endif()
set(CPACK_COMPONENT_RUNNER_DESCRIPTION "Leak gate for GoogleTest suites
 Runs a GoogleTest binary, traces every allocation, and fails each test that
 leaves more memory behind than its budget allows.")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME leakgate-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "leakgate (= ${PROJECT_VERSION}), libgtest-dev")
set(CPACK_COMPONENT_DEV_DESCRIPTION "Leak gate for GoogleTest suites: listener and CMake package
 The listener to link into tests, headers for allowances in code, and a CMake
 package with functions that put tests of CTest under leakgate.")
include(CPack)
