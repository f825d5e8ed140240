# The functions for projects that use leakgate, documented in docs/cmake.md.
#
#   leakgate_discover_tests(target ...)   each test of a GoogleTest binary, gated
#   leakgate_add_test(NAME .. COMMAND ..) one command, gated
#
# Part of the package, and of leakgate's own tree where that is a subproject.
include_guard(GLOBAL)
cmake_policy(PUSH)
cmake_policy(VERSION 3.18...3.25)  # Debian 11 has 3.18
include(${CMAKE_CURRENT_LIST_DIR}/LeakgateText.cmake)

function(_leakgate_check_arguments function unparsed confirm)
  if(NOT "${unparsed}" STREQUAL "")
    message(FATAL_ERROR "${function}: unknown arguments: ${unparsed}; leakgate help cmake has them all")
  endif()
  if(NOT "${confirm}" MATCHES "^(after|inline|off|)$")
    message(FATAL_ERROR "${function}: CONFIRM ${confirm}: no such way; write CONFIRM after, inline or off")
  endif()
endfunction()

# The runner that tests are put under: the one that came with these functions, or
# LEAKGATE_EXECUTABLE, where only the listener is built. Where it is built here, too,
# `target` is built after it. In front of it is the emulator, where Windows' programs are run by one (Wine).
function(_leakgate_find_runner out_runner target)
  if(LEAKGATE_EXECUTABLE)
    set(runner "${LEAKGATE_EXECUTABLE}")
  elseif(TARGET leakgate::leakgate)
    set(runner "$<TARGET_FILE:leakgate::leakgate>")
  else()
    message(FATAL_ERROR "leakgate's runner is not part of this build (LEAKGATE_BUILD_RUNNER=OFF): "
                        "set LEAKGATE_EXECUTABLE to an installed leakgate")
  endif()
  if(TARGET leakgate_agent AND NOT LEAKGATE_EXECUTABLE AND TARGET "${target}")
    add_dependencies("${target}" leakgate leakgate_agent)
  endif()
  if(CMAKE_SYSTEM_NAME STREQUAL "Windows" AND CMAKE_CROSSCOMPILING_EMULATOR)
    set(runner ${CMAKE_CROSSCOMPILING_EMULATOR} "${runner}")
  endif()
  set(${out_runner} "${runner}" PARENT_SCOPE)
endfunction()

# What follows `leakgate run`, the result's file and the program aside. 77 is what
# CTest is told to show as skipped.
function(_leakgate_run_options out_options budgets confirm measurements leakgate_args)
  set(options --skip-exit-code 77)
  foreach(budget IN LISTS budgets)
    if(NOT budget MATCHES "^\\$<")
      get_filename_component(budget "${budget}" ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
    endif()
    list(APPEND options --budgets "${budget}")
    # leakgate.begin checks them once for all tests. What a generator expression names is not
    # known here.
    if(NOT budget MATCHES "\\$<")
      file(APPEND "${CMAKE_BINARY_DIR}/leakgate-budgets.txt" "${budget}\n")
    endif()
  endforeach()
  if(confirm)
    list(APPEND options --confirm=${confirm})
  endif()
  if(measurements)
    list(APPEND options --ctest-measurements)
  endif()
  if(leakgate_args)
    string(APPEND options ";${leakgate_args}")
  endif()
  set(${out_options} "${options}" PARENT_SCOPE)
endfunction()

# The folder of all results. The test leakgate.begin, which runs before all others
# that are selected, empties it: what an earlier run left there does not count. The
# test leakgate.summary, which runs after them, merges what they wrote.
function(_leakgate_results_folder out_folder runner)
  set(folder "${CMAKE_BINARY_DIR}/leakgate-results")
  get_property(has_begin GLOBAL PROPERTY LEAKGATE_HAS_BEGIN)
  if(NOT has_begin)
    set_property(GLOBAL PROPERTY LEAKGATE_HAS_BEGIN TRUE)
    file(MAKE_DIRECTORY "${folder}/tests")
    file(WRITE "${CMAKE_BINARY_DIR}/leakgate-budgets.txt" "")
    add_test(NAME leakgate.begin COMMAND ${CMAKE_COMMAND} "-DRESULTS=${folder}" "-DRUNNER=${runner}"
             "-DBUDGETS=${CMAKE_BINARY_DIR}/leakgate-budgets.txt" -P "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/LeakgateBegin.cmake")
    set_tests_properties(leakgate.begin PROPERTIES FIXTURES_SETUP leakgate)
    set(summary "${CMAKE_BINARY_DIR}/leakgate-summary")
    add_test(NAME leakgate.summary COMMAND ${runner} merge "${folder}"
             --report "json=${summary}.json" --report "html=${summary}.html")
    set_tests_properties(leakgate.summary PROPERTIES
      FIXTURES_CLEANUP leakgate ATTACHED_FILES "${summary}.html")
  endif()
  set(${out_folder} "${folder}" PARENT_SCOPE)
endfunction()

function(leakgate_add_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "MEASUREMENTS" "NAME;WORKING_DIRECTORY;CONFIRM"
    "COMMAND;BUDGETS;LEAKGATE_ARGS;CONFIGURATIONS")
  _leakgate_check_arguments(leakgate_add_test "${arg_UNPARSED_ARGUMENTS}" "${arg_CONFIRM}")
  if("${arg_NAME}" STREQUAL "" OR "${arg_COMMAND}" STREQUAL "")
    message(FATAL_ERROR "leakgate_add_test: NAME and COMMAND are required")
  endif()
  list(GET arg_COMMAND 0 program)
  _leakgate_find_runner(runner "${program}")
  _leakgate_results_folder(results "${runner}")
  _leakgate_run_options(options "${arg_BUDGETS}" "${arg_CONFIRM}" "${arg_MEASUREMENTS}"
                        "${arg_LEAKGATE_ARGS}")
  if(TARGET "${program}")
    list(POP_FRONT arg_COMMAND)
    list(PREPEND arg_COMMAND "$<TARGET_FILE:${program}>")
  endif()

  # Names of tests are unique in their folder only.
  _leakgate_file_name(file "${arg_NAME}" "${CMAKE_CURRENT_BINARY_DIR}")
  set(result "${results}/tests/${file}.json")
  if("${arg_WORKING_DIRECTORY}" STREQUAL "")
    set(arg_WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
  endif()
  add_test(NAME "${arg_NAME}"
    COMMAND ${runner} run ${options} --report "json=${result}" -- ${arg_COMMAND}
    WORKING_DIRECTORY "${arg_WORKING_DIRECTORY}"
    CONFIGURATIONS ${arg_CONFIGURATIONS})
  set_tests_properties("${arg_NAME}" PROPERTIES
    SKIP_RETURN_CODE 77 FIXTURES_REQUIRED leakgate ATTACHED_FILES_ON_FAIL "${result}")
endfunction()

# Sets defaults in the caller for arguments that it was not given.
macro(_leakgate_default name value)
  if("${arg_${name}}" STREQUAL "")
    set(arg_${name} "${value}")
  endif()
endmacro()

# The arguments of one discovery as a file that sets them, for LeakgateDiscover.cmake.
# Reads the arg_* of leakgate_discover_tests; behind the first argument, names and
# values besides them.
function(_leakgate_settings_text out_text)
  set(text "")
  foreach(name EXTRA_ARGS PROPERTIES TEST_PREFIX TEST_SUFFIX TEST_FILTER TEST_LIST NO_PRETTY_TYPES
               NO_PRETTY_VALUES WORKING_DIRECTORY DISCOVERY_TIMEOUT XML_OUTPUT_DIR)
    _leakgate_quote(value "${arg_${name}}")
    string(APPEND text "set(${name} ${value})\n")
  endforeach()
  cmake_parse_arguments(PARSE_ARGV 1 more "" "executable;runner;results;tests_file;cmake" "options")
  foreach(name executable runner results tests_file cmake options)
    _leakgate_quote(value "${more_${name}}")
    string(APPEND text "set(${name} ${value})\n")
  endforeach()
  set(${out_text} "${text}" PARENT_SCOPE)
endfunction()

# What ctest reads: the tests, or that there are none because nothing is built.
function(_leakgate_include_for_ctest target script base config mode)
  _leakgate_quote(script "${script}")
  _leakgate_quote(not_built "${target}_NOT_BUILT")
  file(WRITE "${base}-include.cmake"
    "set(leakgate_tests \"${base}-tests${config}.cmake\")\n"
    "include(${script})\n"
    "leakgate_update_tests(\"${base}-settings${config}.cmake\" \"\${leakgate_tests}\" ${mode} leakgate_is_built)\n"
    "if(leakgate_is_built)\n"
    "  include(\"\${leakgate_tests}\")\n"
    "else()\n"
    "  add_test(${not_built} ${not_built})\n"
    "endif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${base}-include.cmake")
endfunction()

function(_leakgate_check_target target mode)
  if(NOT TARGET "${target}")
    message(FATAL_ERROR "leakgate_discover_tests: ${target} is no target")
  endif()
  if(NOT mode MATCHES "^(POST_BUILD|PRE_TEST)$")
    message(FATAL_ERROR "leakgate_discover_tests: unknown DISCOVERY_MODE ${mode}; write POST_BUILD or PRE_TEST")
  endif()
  get_target_property(emulator ${target} CROSSCOMPILING_EMULATOR)
  if(emulator AND NOT CMAKE_SYSTEM_NAME STREQUAL "Windows")
    message(FATAL_ERROR "leakgate_discover_tests: ${target} runs in an emulator, where leakgate cannot "
                        "trace it; use gtest_discover_tests")
  endif()
endfunction()

# The tests are found by LeakgateDiscover.cmake, once the binary is built, or when
# ctest reads what is included here.
function(leakgate_discover_tests target)
  cmake_parse_arguments(PARSE_ARGV 1 arg
    "MEASUREMENTS;NO_PRETTY_TYPES;NO_PRETTY_VALUES"
    "CONFIRM;TEST_PREFIX;TEST_SUFFIX;WORKING_DIRECTORY;TEST_LIST;DISCOVERY_TIMEOUT;XML_OUTPUT_DIR;DISCOVERY_MODE"
    "BUDGETS;LEAKGATE_ARGS;EXTRA_ARGS;PROPERTIES;TEST_FILTER")
  _leakgate_check_arguments(leakgate_discover_tests "${arg_UNPARSED_ARGUMENTS}" "${arg_CONFIRM}")
  _leakgate_default(DISCOVERY_MODE "${CMAKE_GTEST_DISCOVER_TESTS_DISCOVERY_MODE}")
  _leakgate_default(DISCOVERY_MODE POST_BUILD)
  _leakgate_default(DISCOVERY_TIMEOUT 60)
  _leakgate_default(WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
  _leakgate_default(TEST_LIST "${target}_TESTS")
  _leakgate_check_target("${target}" "${arg_DISCOVERY_MODE}")
  _leakgate_find_runner(runner ${target})
  _leakgate_results_folder(results "${runner}")
  _leakgate_run_options(options "${arg_BUDGETS}" "${arg_CONFIRM}" "${arg_MEASUREMENTS}"
                        "${arg_LEAKGATE_ARGS}")

  # A target may be discovered more than once, with other arguments.
  get_property(count TARGET ${target} PROPERTY LEAKGATE_DISCOVERIES)
  math(EXPR count "${count} + 1")
  set_property(TARGET ${target} PROPERTY LEAKGATE_DISCOVERIES ${count})
  set(base "${CMAKE_CURRENT_BINARY_DIR}/${target}-leakgate-${count}")
  string(APPEND results "/${target}")
  if(count GREATER 1)
    string(APPEND results "@${count}")
  endif()
  set(config "")
  set(config_for_ctest "")
  get_property(is_multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(is_multi_config)
    set(config "-$<CONFIG>")
    set(config_for_ctest "-\${CTEST_CONFIGURATION_TYPE}")
  endif()

  set(tests_file "${base}-tests${config}.cmake")
  set(settings_file "${base}-settings${config}.cmake")
  _leakgate_settings_text(settings executable "$<TARGET_FILE:${target}>" runner "${runner}"
    results "${results}" tests_file "${tests_file}" cmake "${CMAKE_COMMAND}" options ${options})
  set(for_target TARGET ${target})
  if(CMAKE_VERSION VERSION_LESS 3.19)  # generator expressions have to name the target
    set(for_target "")
  endif()
  file(GENERATE OUTPUT "${settings_file}" CONTENT "${settings}" ${for_target})

  set(script "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/LeakgateDiscover.cmake")
  if(arg_DISCOVERY_MODE STREQUAL "POST_BUILD")
    # The settings are part of the command, so that a change of theirs runs it again.
    string(MD5 hash "${settings}")
    add_custom_command(TARGET ${target} POST_BUILD BYPRODUCTS "${tests_file}"
      COMMAND "${CMAKE_COMMAND}" -D "SETTINGS=${settings_file}" -D "SETTINGS_HASH=${hash}" -P "${script}"
      VERBATIM)
  endif()
  _leakgate_include_for_ctest(${target} "${script}" "${base}" "${config_for_ctest}" ${arg_DISCOVERY_MODE})
endfunction()

cmake_policy(POP)
