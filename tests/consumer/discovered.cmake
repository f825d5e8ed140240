# Read by ctest: properties of discovered tests can be set by their list.
set_tests_properties(Consumer.LeaksOnce PROPERTIES WILL_FAIL TRUE)
set_tests_properties(${discovered} PROPERTIES TIMEOUT 60)
