# Finds the tests of a GoogleTest binary, and writes the file in which CTest reads
# them, each under leakgate. Run as a script (-D SETTINGS=..) once the binary is
# built, and included by ctest itself; leakgate_discover_tests writes the settings.
#
# The binary is asked for its list as XML: no name can break that, whatever is in
# it. In CMake's own lists `;`, `[`, `]` and `\` would, so bytes that XML cannot
# contain stand for them until the names are written.
cmake_policy(PUSH)
cmake_policy(VERSION 3.18...3.25)
include(${CMAKE_CURRENT_LIST_DIR}/LeakgateText.cmake)

macro(_leakgate_set_placeholders)
  string(ASCII 1 _semicolon)
  string(ASCII 2 _open)
  string(ASCII 3 _close)
  string(ASCII 4 _backslash)
endmacro()

# What to call a file for GoogleTest, which in an emulator takes no path of this system for absolute.
function(_leakgate_output_path out_path file)
  if(emulator)
    file(RELATIVE_PATH file "${WORKING_DIRECTORY}" "${file}")
  endif()
  set(${out_path} "${file}" PARENT_SCOPE)
endfunction()

# The lines of the binary's list; not gated, and without what would make it run,
# report or fail otherwise than alone.
function(_leakgate_list_tests out_lines)
  set(list "${tests_file}.xml")
  file(REMOVE "${list}")
  _leakgate_output_path(output_path "${list}")
  set(filter "")
  if(NOT "${TEST_FILTER}" STREQUAL "")
    set(filter "--gtest_filter=${TEST_FILTER}")
  endif()
  set(end_of_options --)
  if(CMAKE_VERSION VERSION_LESS 3.24)
    set(end_of_options "")
  endif()
  execute_process(
    COMMAND "${cmake}" -E env --unset=GTEST_TOTAL_SHARDS --unset=GTEST_SHARD_INDEX
            --unset=GTEST_SHARD_STATUS_FILE --unset=GTEST_FILTER --unset=LEAKGATE_REQUIRED ${end_of_options}
            ${emulator} "${executable}" --gtest_list_tests "--gtest_output=xml:${output_path}" ${filter}
    WORKING_DIRECTORY "${WORKING_DIRECTORY}" TIMEOUT ${DISCOVERY_TIMEOUT}
    OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE result)
  if(NOT result STREQUAL "0" OR NOT EXISTS "${list}")
    message(FATAL_ERROR "leakgate_discover_tests: ${executable} --gtest_list_tests "
                        "--gtest_output=xml:FILE wrote no list (${result}); it must use GoogleTest "
                        "1.10 or later, and its main must call InitGoogleTest\n${output}")
  endif()
  file(READ "${list}" text)
  file(REMOVE "${list}")
  _leakgate_set_placeholders()
  string(REPLACE "\\" "${_backslash}" text "${text}")
  string(REPLACE ";" "${_semicolon}" text "${text}")
  string(REPLACE "[" "${_open}" text "${text}")
  string(REPLACE "]" "${_close}" text "${text}")
  string(REPLACE "\n" ";" text "${text}")
  set(${out_lines} "${text}" PARENT_SCOPE)
endfunction()

# The value of an XML attribute in `line`, placeholders and all; empty if absent.
function(_leakgate_attribute out_value line name)
  if("${line}" MATCHES " ${name}=\"([^\"]*)\"")
    set(${out_value} "${CMAKE_MATCH_1}" PARENT_SCOPE)
  else()
    set(${out_value} "" PARENT_SCOPE)
  endif()
endfunction()

# From XML and placeholders to the text that was meant. What breaks a line becomes `blank`.
function(_leakgate_plain out_text text blank)
  _leakgate_set_placeholders()
  string(REGEX REPLACE "&#x0?[9ADad]${_semicolon}" "${blank}" text "${text}")
  string(REPLACE "&lt${_semicolon}" "<" text "${text}")
  string(REPLACE "&gt${_semicolon}" ">" text "${text}")
  string(REPLACE "&quot${_semicolon}" "\"" text "${text}")
  string(REPLACE "&apos${_semicolon}" "'" text "${text}")
  string(REPLACE "&amp${_semicolon}" "&" text "${text}")
  string(REPLACE "${_backslash}" "\\" text "${text}")
  string(REPLACE "${_open}" "[" text "${text}")
  string(REPLACE "${_close}" "]" text "${text}")
  string(REPLACE "${_semicolon}" ";" text "${text}")
  set(${out_text} "${text}" PARENT_SCOPE)
endfunction()

# How CTest calls the test: as GoogleTest does, with values and types in the place
# of their numbers.
function(_leakgate_pretty_name out_name suite test type_param value_param)
  string(REGEX REPLACE "(^|/)DISABLED_" "\\1" suite "${suite}")
  string(REGEX REPLACE "^DISABLED_" "" test "${test}")
  set(type "")
  if(NOT "${type_param}" STREQUAL "" AND "${suite}" MATCHES "^(.*)/([0-9]+)$")
    set(suite "${CMAKE_MATCH_1}")
    set(type "<${type_param}>")
    if(NO_PRETTY_TYPES)
      set(type "<${CMAKE_MATCH_2}>")
    endif()
  endif()
  if(NOT NO_PRETTY_VALUES AND NOT "${value_param}" STREQUAL "" AND "${test}" MATCHES "^(.*/)[0-9]+$")
    set(test "${CMAKE_MATCH_1}${value_param}")
  endif()
  set(${out_name} "${TEST_PREFIX}${suite}.${test}${type}${TEST_SUFFIX}" PARENT_SCOPE)
endfunction()

# The user's PROPERTIES as code; `fixtures` and `environment_modification`, which are
# ours as well, are added to.
function(_leakgate_split_properties out_code out_fixtures out_environment)
  set(code "")
  set(fixtures leakgate)
  # One process runs one test: there is nothing to share out.
  set(environment GTEST_TOTAL_SHARDS=unset: GTEST_SHARD_INDEX=unset: GTEST_SHARD_STATUS_FILE=unset:)
  set(key "")
  foreach(word IN LISTS PROPERTIES)
    if(key STREQUAL "")
      set(key "${word}")
      continue()
    endif()
    if(key STREQUAL "FIXTURES_REQUIRED")
      list(APPEND fixtures "${word}")
    elseif(key STREQUAL "ENVIRONMENT_MODIFICATION")
      list(APPEND environment "${word}")
    else()
      _leakgate_quote(value "${word}")
      string(APPEND code " ${key} ${value}")
    endif()
    set(key "")
  endforeach()
  set(${out_code} "${code}" PARENT_SCOPE)
  set(${out_fixtures} "${fixtures}" PARENT_SCOPE)
  set(${out_environment} "${environment}" PARENT_SCOPE)
endfunction()

# What to call the test in CTest: a name that none of those before it has.
function(_leakgate_unique_name out_name suite test line)
  foreach(param type_param value_param)
    _leakgate_attribute(${param} "${line}" ${param})
    _leakgate_plain(${param} "${${param}}" " ")
  endforeach()
  _leakgate_plain(suite "${suite}" " ")
  _leakgate_plain(test "${test}" " ")
  _leakgate_pretty_name(name "${suite}" "${test}" "${type_param}" "${value_param}")
  string(MD5 key "${name}")
  if(DEFINED named_${key})  # two values that read alike
    set(name "${TEST_PREFIX}${suite}.${test}${TEST_SUFFIX}")
  endif()
  set(named_${key} TRUE PARENT_SCOPE)
  set(${out_name} "${name}" PARENT_SCOPE)
endfunction()

# The code that adds one test. `full_name` is GoogleTest's. Reads what
# leakgate_write_tests has quoted for all tests.
function(_leakgate_test_code out_code name full_name)
  # ':' and '-' mean something in a filter; '?' is any one character.
  string(REGEX REPLACE "[:-]" "?" filter "${full_name}")
  _leakgate_quote(filter "--gtest_filter=${filter}")
  _leakgate_file_name(file "${full_name}" "")
  _leakgate_quote(result "${results}/${file}.json")
  _leakgate_quote(report "json=${results}/${file}.json")
  _leakgate_quote(name "${name}")
  set(xml "")
  if(NOT "${XML_OUTPUT_DIR}" STREQUAL "")
    _leakgate_output_path(xml "${XML_OUTPUT_DIR}/${TEST_PREFIX}${file}${TEST_SUFFIX}.xml")
    _leakgate_quote(xml "--gtest_output=xml:${xml}")
  endif()
  set(disabled "")
  if("${full_name}" MATCHES "(^|[/.])DISABLED_")
    set(disabled " DISABLED TRUE")
  endif()
  string(CONCAT code
    "add_test(${name}${runner_text} run${run_options} --report ${report} -- ${executable_text} "
    "${filter} --gtest_also_run_disabled_tests ${xml}${extra_args})\n"
    "set_tests_properties(${name} PROPERTIES WORKING_DIRECTORY ${WORKING_DIRECTORY_text} "
    "SKIP_RETURN_CODE 77 FIXTURES_REQUIRED ${fixtures_text} "
    "ENVIRONMENT_MODIFICATION ${environment_text} ATTACHED_FILES_ON_FAIL ${result}${disabled}"
    "${properties})\n")
  set(${out_code} "${code}" PARENT_SCOPE)
endfunction()

function(leakgate_write_tests settings)
  include("${settings}")
  set(emulator ${runner})
  list(POP_BACK emulator)
  _leakgate_list_tests(lines)
  _leakgate_split_properties(properties fixtures environment)
  _leakgate_quote_list(run_options "${options}")
  _leakgate_quote_list(extra_args "${EXTRA_ARGS}")
  _leakgate_quote_list(runner_text "${runner}")
  foreach(name executable fixtures environment WORKING_DIRECTORY results)
    _leakgate_quote(${name}_text "${${name}}")
  endforeach()

  file(WRITE "${tests_file}" "file(MAKE_DIRECTORY ${results_text})\n")
  set(code "")
  set(names "")
  foreach(line IN LISTS lines)
    if("${line}" MATCHES "^ *<testsuite ")
      _leakgate_attribute(suite "${line}" name)
    endif()
    if(NOT "${line}" MATCHES "^ *<testcase ")
      continue()
    endif()
    _leakgate_attribute(test "${line}" name)
    string(MD5 key "${suite}.${test}")
    if(DEFINED seen_${key})  # GoogleTest selects by name: the first runs them both
      continue()
    endif()
    set(seen_${key} TRUE)
    _leakgate_unique_name(name "${suite}" "${test}" "${line}")
    _leakgate_plain(full_name "${suite}.${test}" "?")
    _leakgate_test_code(test_code "${name}" "${full_name}")
    string(APPEND code "${test_code}")
    string(LENGTH "${code}" length)
    if(length GREATER 50000)  # appending to a long string copies it
      file(APPEND "${tests_file}" "${code}")
      set(code "")
    endif()
    # A bracket in a name would make the list of names another one.
    if(NOT "${name}" MATCHES "[][]")
      string(REPLACE ";" "\\;" name "${name}")
      list(APPEND names "${name}")
    endif()
  endforeach()
  _leakgate_quote(names "${names}")
  file(APPEND "${tests_file}" "${code}set(${TEST_LIST} ${names})\n")
endfunction()

# Whether there are tests to include. Before that they are found, where the mode is
# PRE_TEST and the binary, or how it is to be run, is newer than the list of them.
function(leakgate_update_tests settings tests mode out_is_built)
  set(is_built FALSE)
  if(EXISTS "${settings}")
    include("${settings}")
    if(EXISTS "${executable}" AND mode STREQUAL "PRE_TEST" AND
       NOT (EXISTS "${tests}" AND "${tests}" IS_NEWER_THAN "${executable}" AND "${tests}" IS_NEWER_THAN "${settings}" AND
            "${tests}" IS_NEWER_THAN "${CMAKE_CURRENT_FUNCTION_LIST_FILE}"))
      leakgate_write_tests("${settings}")
    endif()
    if(EXISTS "${executable}" AND EXISTS "${tests}")
      set(is_built TRUE)
    endif()
  endif()
  set(${out_is_built} ${is_built} PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  leakgate_write_tests("${SETTINGS}")
endif()
cmake_policy(POP)
