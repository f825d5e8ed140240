# How the runner finds its libraries. The runner often starts once for each test, and the dynamic linker would
# take longer for a dozen libraries than everything else: so libraries are linked statically if possible. The C
# library is not, since plugins of its own and of elfutils (debuginfod) are loaded while the runner runs.
#
#   leakgate_find_library(dw HEADER elfutils/libdwfl.h CALL "dwfl_end(nullptr)" NEEDS elf lzma)
#   target_link_libraries(target PUBLIC leakgate_dw)
include_guard(GLOBAL)
include(CheckCXXSourceCompiles)

option(LEAKGATE_STATIC_LIBRARIES "Link the runner with static libraries, where there are any" ON)
# Sanitizers also check the C++ library's own calls.
set(leakgate_links_static ${LEAKGATE_STATIC_LIBRARIES})
if(LEAKGATE_SANITIZE)
  set(leakgate_links_static OFF)
endif()
set(leakgate_links_static_cxx ${leakgate_links_static})

# Sets whether a program of `code` can be linked with the libraries. After a failure it is tried again next
# time, because a package may be missing.
function(_leakgate_can_link out_can code)
  set(CMAKE_REQUIRED_LIBRARIES ${ARGN})
  set(CMAKE_REQUIRED_QUIET ON)
  check_cxx_source_compiles("${code}" ${out_can})
  if(NOT ${out_can})
    unset(${out_can} CACHE)
    set(${out_can} OFF)
  endif()
  set(${out_can} ${${out_can}} PARENT_SCOPE)
endfunction()

# Finds the static library beside the shared one, because one elsewhere may be of another version.
function(_leakgate_find_static out_file name shared)
  cmake_path(GET shared PARENT_PATH folder)
  find_library(LEAKGATE_STATIC_${name} lib${name}.a PATHS ${folder} NO_DEFAULT_PATH)
  mark_as_advanced(LEAKGATE_STATIC_${name})
  set(${out_file} ${LEAKGATE_STATIC_${name}} PARENT_SCOPE)
endfunction()

# Makes the target leakgate_NAME of the library NAME: the static one, if a program that makes the CALL can be
# linked with it and with what it NEEDS, otherwise the shared one. TARGET is the target of a package that was
# found, which has the path of the headers. LIKE names a library whose objects this one shares: either both are
# static, or neither is. CXX marks a library in C++: either all of these share the C++ library, or none does.
function(leakgate_find_library name)
  cmake_parse_arguments(PARSE_ARGV 1 library "CXX" "HEADER;CALL;TARGET;LIKE" "NEEDS")
  add_library(leakgate_${name} INTERFACE)
  set(is_static OFF)
  find_library(LEAKGATE_LIB_${name} ${name} REQUIRED)
  mark_as_advanced(LEAKGATE_LIB_${name})
  if(leakgate_links_static AND (NOT library_LIKE OR leakgate_${library_LIKE}_is_static))
    set(files "")
    foreach(needed IN LISTS name library_NEEDS)
      _leakgate_find_static(file ${needed} ${LEAKGATE_LIB_${name}})
      if(file)
        list(APPEND files ${file})
      endif()
    endforeach()
    if(LEAKGATE_STATIC_${name})
      set(code "#include <${library_HEADER}>\nint main() { ${library_CALL}; }")
      _leakgate_can_link(LEAKGATE_LINKS_${name} "${code}" ${files})
      set(is_static ${LEAKGATE_LINKS_${name}})
    endif()
  endif()
  set(leakgate_${name}_is_static ${is_static} PARENT_SCOPE)
  if(is_static)
    target_link_libraries(leakgate_${name} INTERFACE ${files})
    if(library_TARGET)
      get_target_property(folders ${library_TARGET} INTERFACE_INCLUDE_DIRECTORIES)
      target_include_directories(leakgate_${name} SYSTEM INTERFACE ${folders})
    endif()
    return()
  endif()
  set_property(GLOBAL APPEND PROPERTY LEAKGATE_SHARED_LIBRARIES ${name})
  if(library_TARGET)
    target_link_libraries(leakgate_${name} INTERFACE ${library_TARGET})
  else()
    target_link_libraries(leakgate_${name} INTERFACE ${LEAKGATE_LIB_${name}})
  endif()
  if(library_CXX)
    set(leakgate_links_static_cxx OFF PARENT_SCOPE)
  endif()
endfunction()

# The C++ library's demangler with its callback, which the shared library keeps to itself: out of the static
# one, which comes with the compiler.
function(leakgate_find_demangler)
  set(target ${CMAKE_CXX_COMPILER_TARGET})
  list(TRANSFORM target PREPEND "--target=")
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} ${target} -print-file-name=libstdc++.a
    OUTPUT_VARIABLE cxx_library OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT EXISTS "${cxx_library}")
    message(FATAL_ERROR "leakgate needs libstdc++.a, the C++ library as a static one; install it with the compiler")
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/demangler)
  file(MAKE_DIRECTORY ${folder})
  execute_process(COMMAND ${CMAKE_AR} x ${cxx_library} cp-demangle.o WORKING_DIRECTORY ${folder} RESULT_VARIABLE failed)
  execute_process(COMMAND ${CMAKE_AR} rcs libleakgate_demangler.a cp-demangle.o WORKING_DIRECTORY ${folder})
  if(failed)
    message(FATAL_ERROR "${cxx_library} has no demangler (cp-demangle.o); build leakgate with GCC's C++ library")
  endif()
  add_library(leakgate_demangler INTERFACE)
  target_link_libraries(leakgate_demangler INTERFACE ${folder}/libleakgate_demangler.a)
endfunction()

# Boost's static libraries, unless the project has found the shared ones before, or there are none.
# Boost.Process v2 is sources to compile in (base/boost_process.cpp), or, in newer versions, a library.
macro(leakgate_find_boost)
  find_package(Boost 1.81 CONFIG REQUIRED)
  set(leakgate_boost filesystem)
  if(NOT EXISTS ${Boost_INCLUDE_DIRS}/boost/process/v2/src.hpp)
    list(APPEND leakgate_boost process)
  endif()
  if(leakgate_links_static AND NOT TARGET Boost::filesystem)
    set(Boost_USE_STATIC_LIBS ON)
    find_package(Boost 1.81 CONFIG QUIET COMPONENTS ${leakgate_boost})
    if(NOT Boost_FOUND)
      unset(Boost_USE_STATIC_LIBS)
    endif()
  endif()
  find_package(Boost 1.81 CONFIG REQUIRED COMPONENTS ${leakgate_boost})
  get_target_property(leakgate_boost_type Boost::filesystem TYPE)
  if(NOT leakgate_boost_type STREQUAL STATIC_LIBRARY)
    set_property(GLOBAL APPEND PROPERTY LEAKGATE_SHARED_LIBRARIES boost)
    set(leakgate_links_static_cxx OFF)
  endif()
endmacro()

# What {fmt} does not leave to templates, compiled for the runner: Debian has no static library of it. Sets the
# source's name, or nothing, if it does not suit this version, or is not needed.
macro(leakgate_find_fmt out_source)
  find_package(fmt REQUIRED)
  set(${out_source} "")
  get_target_property(leakgate_fmt_type fmt::fmt TYPE)
  if(leakgate_links_static AND NOT leakgate_fmt_type STREQUAL STATIC_LIBRARY)
    file(READ ${CMAKE_CURRENT_SOURCE_DIR}/base/fmt_library.cpp.in leakgate_fmt_source)
    get_target_property(CMAKE_REQUIRED_INCLUDES fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
    _leakgate_can_link(LEAKGATE_COMPILES_FMT "${leakgate_fmt_source}
      #include <fmt/chrono.h>
      #include <fmt/ranges.h>
      int main(int count, char** words) {
        const double number = count;
        return static_cast<int>(fmt::format(fmt::runtime(words[0]), count, number, 1.0f, words[0],
          std::chrono::system_clock::now(), fmt::join(words, words + count, \",\"),
          fmt::format(\"{:L} {:g} {:x} {:>{}}\", count, number, count, words[0], count)).size());
      }")
    unset(CMAKE_REQUIRED_INCLUDES)
    if(LEAKGATE_COMPILES_FMT)
      set(${out_source} ${CMAKE_CURRENT_BINARY_DIR}/fmt_library.cpp)
      configure_file(base/fmt_library.cpp.in ${${out_source}} COPYONLY)
    else()
      set_property(GLOBAL APPEND PROPERTY LEAKGATE_SHARED_LIBRARIES fmt)
      set(leakgate_links_static_cxx OFF)
    endif()
  endif()
endmacro()

# How the runner is linked: without what nothing is taken from; and with the C++ library, unless a library
# brings the shared one along, for there must not be two.
function(leakgate_set_linking target)
  if(WIN32)  # one file, without a folder of DLLs beside it
    target_link_options(${target} PRIVATE -static)
    return()
  endif()
  if(NOT leakgate_links_static)
    return()
  endif()
  target_link_options(${target} PRIVATE -Wl,--as-needed)
  set(is_static OFF)
  if(leakgate_links_static_cxx)
    set(options -static-libstdc++ -static-libgcc)
    set(CMAKE_REQUIRED_LINK_OPTIONS ${options})
    _leakgate_can_link(LEAKGATE_LINKS_CXX "#include <iostream>\nint main() { std::cout << 1; }")
    set(is_static ${LEAKGATE_LINKS_CXX})
  endif()
  if(is_static)
    target_link_options(${target} PRIVATE ${options})
  else()
    set_property(GLOBAL APPEND PROPERTY LEAKGATE_SHARED_LIBRARIES stdc++)
  endif()
  get_property(shared GLOBAL PROPERTY LEAKGATE_SHARED_LIBRARIES)
  if(shared)
    list(JOIN shared " " names)
    message(STATUS "leakgate is linked with shared libraries (${names}): it starts slower than it could")
  endif()
endfunction()
