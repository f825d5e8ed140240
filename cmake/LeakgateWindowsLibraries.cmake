# The runner's libraries in a build for Windows, under the names that LeakgateLibraries.cmake gives them elsewhere:
# all are in one folder, which ci/windows-libraries makes.
include_guard(GLOBAL)
if(NOT EXISTS ${LEAKGATE_WINDOWS_LIBRARIES}/lib/libgtest.a)
  message(FATAL_ERROR "${LEAKGATE_WINDOWS_LIBRARIES} has no libraries for Windows: run ci/windows-libraries first")
endif()

function(_leakgate_windows_library target)
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${target} SYSTEM INTERFACE ${LEAKGATE_WINDOWS_LIBRARIES}/include)
  foreach(name IN LISTS ARGN)
    target_link_libraries(${target} INTERFACE ${LEAKGATE_WINDOWS_LIBRARIES}/lib/lib${name}.a)
  endforeach()
endfunction()

foreach(target Boost::headers CLI11::CLI11 fmt::fmt nlohmann_json::nlohmann_json tl::expected)
  _leakgate_windows_library(${target})
endforeach()
set(ZLIB_USE_STATIC_LIBS ON)
find_package(ZLIB REQUIRED)
foreach(name pugixml sqlite3 xxhash zstd)
  _leakgate_windows_library(leakgate_${name} ${name})
endforeach()
add_library(leakgate_z INTERFACE)
target_link_libraries(leakgate_z INTERFACE ${ZLIB_LIBRARIES})
_leakgate_windows_library(leakgate_minizip minizip)
_leakgate_windows_library(leakgate_dw dwarf)
target_link_libraries(leakgate_dw INTERFACE ${ZLIB_LIBRARIES})
add_library(leakgate_elf INTERFACE)  # there is no ELF

# {fmt} is compiled from its header.
set(fmt_source ${CMAKE_CURRENT_BINARY_DIR}/fmt_library.cpp)
configure_file(${PROJECT_SOURCE_DIR}/runner/base/fmt_library.cpp.in ${fmt_source} COPYONLY)
