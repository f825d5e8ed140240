# The test leakgate.begin: removes the results of earlier runs below RESULTS. The
# folders stay, for the tests to write to.
file(MAKE_DIRECTORY "${RESULTS}/tests")
file(GLOB_RECURSE results "${RESULTS}/*.json")
if(results)
  file(REMOVE ${results})
endif()
