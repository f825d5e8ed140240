# tests/consumer, a project of its own, using leakgate in both ways.
function(leakgate_add_consumer_test name)
  add_test(NAME consumer.${name}
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR}/tests/consumer
            -DBUILD=${PROJECT_BINARY_DIR}/consumer/${name} -DLEAKGATE=$<TARGET_FILE:leakgate> ${ARGN}
            -P ${PROJECT_SOURCE_DIR}/tests/consumer/run.cmake)
  set_tests_properties(consumer.${name} PROPERTIES TIMEOUT 300)
endfunction()

leakgate_add_consumer_test(add_subdirectory -DCHECKOUT=${PROJECT_SOURCE_DIR})
leakgate_add_consumer_test(find_package -DTREE=${PROJECT_BINARY_DIR})
