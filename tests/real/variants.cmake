# Read by a real suite's own project(), by way of CMAKE_PROJECT_INCLUDE: its
# files stay as they are. Beside each test binary B of LEAKGATE_VARIANTS_OF it
# adds B_listener, the same objects with leakgate's listener; B_lsan, the same
# with LeakSanitizer, which all comes with linking; B_planted for the one whose source was changed by a patch; and B_plants for those of which a
# source has a copy with leaks in it below LEAKGATE_PLANTS.
if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()
cmake_policy(VERSION 3.25)  # for what follows, not for the suite
set(leakgate_here ${CMAKE_CURRENT_LIST_DIR})

# The same target over again, of other sources.
function(leakgate_copy_properties target name)
  foreach(property LINK_LIBRARIES COMPILE_DEFINITIONS COMPILE_OPTIONS COMPILE_FLAGS COMPILE_FEATURES
          INCLUDE_DIRECTORIES CXX_STANDARD LINK_FLAGS LINK_OPTIONS)
    get_target_property(value ${target} ${property})
    if(value)
      set_property(TARGET ${name} PROPERTY ${property} "${value}")
    endif()
  endforeach()
endfunction()

# The same target over again, of other sources.
function(leakgate_add_variant target name)
  _add_executable(${name} ${ARGN})
  leakgate_copy_properties(${target} ${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
endfunction()

# Compiled once, as the first of the suite's targets is.
function(leakgate_add_listener target)
  if(TARGET leakgate_suite_listener)
    return()
  endif()
  set(plugin ${leakgate_here}/../../plugin)
  set(sources ${leakgate_here}/append_listener.cpp ${plugin}/listener/listener.cpp)
  # The suite itself keeps its own standard: some have more tests in a newer one.
  set(standard ${LEAKGATE_LEAST_STANDARD})
  if(standard LESS 14)
    set(standard 14)
  endif()
  set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS "-std=gnu++${standard};-I${plugin}/include")
  add_library(leakgate_suite_listener OBJECT ${sources})
  leakgate_copy_properties(${target} leakgate_suite_listener)
endfunction()

# Of the very objects of `target`.
function(leakgate_add_listener_variant target)
  leakgate_add_listener(${target})
  leakgate_add_variant(${target} ${target}_listener
    $<TARGET_OBJECTS:${target}> $<TARGET_OBJECTS:leakgate_suite_listener>)
  set_target_properties(${target}_listener PROPERTIES LINKER_LANGUAGE CXX)
  set_property(TARGET ${target}_listener APPEND PROPERTY LINK_LIBRARIES ${CMAKE_DL_LIBS})
endfunction()

function(leakgate_add_lsan_variant target)
  leakgate_add_variant(${target} ${target}_lsan $<TARGET_OBJECTS:${target}>)
  set_target_properties(${target}_lsan PROPERTIES LINKER_LANGUAGE CXX)
  set_property(TARGET ${target}_lsan APPEND PROPERTY LINK_OPTIONS -fsanitize=leak)
endfunction()

# Adds `target`_`suffix` if one of the sources has a changed copy below `folder`.
function(leakgate_add_changed_variant target suffix folder)
  set(sources)
  set(include_directories)
  foreach(source IN LISTS ARGN)
    file(RELATIVE_PATH name ${CMAKE_SOURCE_DIR} ${source})
    if(EXISTS ${folder}/${name})
      cmake_path(GET source PARENT_PATH original_directory)
      list(APPEND include_directories ${original_directory})
      set(source ${folder}/${name})
    endif()
    list(APPEND sources ${source})
  endforeach()
  if(include_directories)
    leakgate_add_variant(${target} ${target}_${suffix} ${sources})
    set_property(TARGET ${target}_${suffix} APPEND PROPERTY INCLUDE_DIRECTORIES ${include_directories})
  endif()
endfunction()

function(leakgate_add_variants target)
  get_target_property(names ${target} SOURCES)
  set(sources)
  foreach(source IN LISTS names)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
    list(APPEND sources ${source})
  endforeach()
  leakgate_add_listener_variant(${target})
  leakgate_add_lsan_variant(${target})
  leakgate_add_changed_variant(${target} planted ${LEAKGATE_PLANTED} ${sources})
  leakgate_add_changed_variant(${target} plants ${LEAKGATE_PLANTS} ${sources})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
endfunction()

# A suite with a harness of its own in place of GoogleTest's macros, as re2 has:
# a header of the same name stands before it, and its main is GoogleTest's.
if(LEAKGATE_HARNESS)
  include_directories(BEFORE ${LEAKGATE_HARNESS})
endif()

# Variants are added at the end of the directory that made the target, where
# what holds for the whole directory is settled.
macro(add_executable leakgate_name)
  set(leakgate_sources ${ARGN})
  if(LEAKGATE_HARNESS)
    list(TRANSFORM leakgate_sources REPLACE "^util/test\\.cc$" ${LEAKGATE_HARNESS}/main.cc)
  endif()
  _add_executable(${leakgate_name} ${leakgate_sources})
  get_target_property(leakgate_standard ${leakgate_name} CXX_STANDARD)
  if(leakgate_standard AND leakgate_standard LESS LEAKGATE_LEAST_STANDARD)
    set_property(TARGET ${leakgate_name} PROPERTY CXX_STANDARD ${LEAKGATE_LEAST_STANDARD})
  endif()
  if("${leakgate_name}" IN_LIST LEAKGATE_VARIANTS_OF)
    if(LEAKGATE_HARNESS)
      target_link_libraries(${leakgate_name} gtest)
    endif()
    cmake_language(EVAL CODE "cmake_language(DEFER CALL leakgate_add_variants ${leakgate_name})")
  endif()
endmacro()
