# Builds the checkout that this overlay port lies in. leakgate is a tool: its own libraries are the system's, and
# nothing of them reaches the programs that are built with vcpkg's.
get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../../.." ABSOLUTE)
set(VCPKG_BUILD_TYPE release)
message(STATUS "leakgate needs libraries of the system: on Debian, ${SOURCE_PATH}/ci/setup installs them")

vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS -DLEAKGATE_BUILD_TESTS=OFF -DLEAKGATE_BUILD_EXAMPLES=OFF -DLEAKGATE_LINES_ONLY=ON)
vcpkg_cmake_install()

# The runner finds its agent and its documents relative to itself, and so does the CMake package find the listener.
# So all of it stays together, below tools.
file(GLOB installed RELATIVE "${CURRENT_PACKAGES_DIR}" "${CURRENT_PACKAGES_DIR}/*")
file(MAKE_DIRECTORY "${CURRENT_PACKAGES_DIR}/tools/${PORT}")
foreach(folder IN LISTS installed)
  file(RENAME "${CURRENT_PACKAGES_DIR}/${folder}" "${CURRENT_PACKAGES_DIR}/tools/${PORT}/${folder}")
endforeach()
foreach(file leakgateConfig.cmake leakgateConfigVersion.cmake)
  file(WRITE "${CURRENT_PACKAGES_DIR}/share/${PORT}/${file}"
    "include(\"\${CMAKE_CURRENT_LIST_DIR}/../../tools/${PORT}/lib/cmake/leakgate/${file}\")\n")
endforeach()

set(VCPKG_POLICY_EMPTY_INCLUDE_FOLDER enabled)
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
