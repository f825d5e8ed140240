# The test leakgate.begin: removes the results of earlier runs below RESULTS. The
# folders stay, for the tests to write to. Fails if one of the budget files or folders
# that are listed in BUDGETS, a line each, cannot be used: CTest then runs no test
# that would fail for the same.
cmake_policy(VERSION 3.18...3.25)
file(MAKE_DIRECTORY "${RESULTS}/tests")
file(GLOB_RECURSE results "${RESULTS}/*.json")
if(results)
  file(REMOVE ${results})
endif()

file(STRINGS "${BUDGETS}" budgets)
list(REMOVE_DUPLICATES budgets)
if(budgets)
  execute_process(COMMAND ${RUNNER} budget check ${budgets}
                  OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE result)
  # An entry that has expired fails the tests that it is for, and no others.
  if(NOT result EQUAL 0 AND NOT output MATCHES " expired on ")
    message("${output}")  # as it is: an error's text would be wrapped
    message(FATAL_ERROR "leakgate.begin: no test is run, because a budget cannot be used")
  endif()
endif()
