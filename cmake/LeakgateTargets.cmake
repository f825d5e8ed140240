# Settings that all of leakgate's own targets share. Targets of users are not changed.

# Clang writes into a precompiled header when its parts were changed, so that a compiler cache took each for another
# one. Ninja makes it anew where a part has changed.
if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  list(APPEND CMAKE_CXX_COMPILE_OPTIONS_CREATE_PCH -Xclang -fno-pch-timestamp)
endif()

# Outputs at bin/ and lib/ of the build tree, where the runner looks for the
# agent just as it does once installed.
function(leakgate_set_output_folders target)
  set_target_properties(${target} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
endfunction()

function(leakgate_set_warnings target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
    $<$<BOOL:${LEAKGATE_WERROR}>:-Werror>)
endfunction()

# Reports of sanitizers and debuggers' backtraces need only lines.
function(leakgate_set_debug_info target)
  if(LEAKGATE_LINES_ONLY)
    target_compile_options(${target} PRIVATE -g1)
  endif()
endfunction()

# Sanitizers go into the runner and the unit tests. The agent lives in other
# people's processes and replaces malloc, so it is never built with one.
function(leakgate_set_sanitizers target)
  if(LEAKGATE_SANITIZE)
    # Findings of the undefined-behaviour sanitizer fail the test, like those of the others.
    set(more -fno-sanitize-recover=all)
    if(LEAKGATE_SANITIZE STREQUAL "address,undefined")
      # nlohmann_json makes an integer of any number that a report has, however large; and
      # the address sanitizer sees null pointers itself.
      list(APPEND more -fno-sanitize=null,vptr,object-size,float-cast-overflow)
    endif()
    target_compile_options(${target} PRIVATE
      -fsanitize=${LEAKGATE_SANITIZE} -fno-omit-frame-pointer ${more}
      # Boost's fences, which the thread sanitizer does not model.
      $<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
    target_link_options(${target} PUBLIC -fsanitize=${LEAKGATE_SANITIZE})
  endif()
endfunction()
