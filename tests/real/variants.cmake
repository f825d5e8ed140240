# Read by a real suite's own project(), by way of CMAKE_PROJECT_INCLUDE: its
# files stay as they are. Beside each test binary B it adds B_listener, the same
# sources with leakgate's listener, and, for the one whose source was changed by
# a patch, B_planted.
if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()

function(leakgate_add_variant target name sources)
  add_executable(${name} ${sources})
  foreach(property LINK_LIBRARIES COMPILE_DEFINITIONS COMPILE_OPTIONS INCLUDE_DIRECTORIES)
    get_target_property(value ${target} ${property})
    if(value)
      set_property(TARGET ${name} PROPERTY ${property} ${value})
    endif()
  endforeach()
endfunction()

function(leakgate_add_variants)
  set(plugin ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../plugin)
  cmake_path(GET LEAKGATE_PLANTED STEM planted)
  foreach(target IN LISTS LEAKGATE_VARIANTS_OF)
    get_target_property(sources ${target} SOURCES)
    leakgate_add_variant(${target} ${target}_listener "${sources}")
    target_sources(${target}_listener PRIVATE
      ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/append_listener.cpp ${plugin}/listener/listener.cpp)
    target_include_directories(${target}_listener PRIVATE ${plugin}/include)
    target_compile_features(${target}_listener PRIVATE cxx_std_14)
    target_link_libraries(${target}_listener PRIVATE ${CMAKE_DL_LIBS})
    if(target STREQUAL planted)
      list(TRANSFORM sources REPLACE "^.*${planted}\\.cc$" ${LEAKGATE_PLANTED})
      leakgate_add_variant(${target} ${target}_planted "${sources}")
    endif()
  endforeach()
endfunction()

# At the end of the suite's own CMakeLists.txt, when its targets are there.
cmake_language(DEFER CALL leakgate_add_variants)
