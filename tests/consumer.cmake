# tests/consumer, a project of its own, using leakgate in both ways.
function(leakgate_add_consumer_test name)
  add_test(NAME consumer.${name}
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR}/tests/consumer
            -DBUILD=${PROJECT_BINARY_DIR}/consumer/${name} -DLEAKGATE=$<TARGET_FILE:leakgate> ${ARGN}
            -P ${PROJECT_SOURCE_DIR}/tests/consumer/run.cmake)
  set_tests_properties(consumer.${name} PROPERTIES TIMEOUT 300)
endfunction()

leakgate_add_consumer_test(find_package -DTREE=${PROJECT_BINARY_DIR})
if(LEAKGATE_BUILD_NIGHTLY)
  leakgate_add_consumer_test(add_subdirectory -DCHECKOUT=${PROJECT_SOURCE_DIR})
  # What cpack makes, unpacked and used.
  add_test(NAME consumer.packages
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/consumer/packages.py
            --tree ${PROJECT_BINARY_DIR} --scratch ${PROJECT_BINARY_DIR}/consumer/packages)
  set_tests_properties(consumer.packages PROPERTIES TIMEOUT 600 PROCESSORS 2)
  set_tests_properties(consumer.add_subdirectory consumer.packages PROPERTIES LABELS nightly)
endif()

# What leakgate_discover_tests and leakgate_add_test make of nasty names, skipped
# and leaking tests, and CTest's own options; by FetchContent.
add_test(NAME consumer.discover
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/consumer/discover/check.py
          --leakgate $<TARGET_FILE:leakgate> --build ${PROJECT_BINARY_DIR}/consumer/discover)
set_tests_properties(consumer.discover PROPERTIES TIMEOUT 600 PROCESSORS 2 COST 60)

# The headers that any code may include, by each compiler, as the oldest C++ that they are for.
foreach(compiler g++ clang++)
  find_program(LEAKGATE_HEADERS_${compiler} ${compiler} REQUIRED)
  add_test(NAME consumer.headers.${compiler}
    COMMAND ${LEAKGATE_HEADERS_${compiler}} -std=c++14 -fsyntax-only -Wall -Wextra -Wpedantic
            -Wconversion -Wshadow -Werror -I${PROJECT_SOURCE_DIR}/plugin/include
            ${PROJECT_SOURCE_DIR}/tests/consumer/measures.cpp)
endforeach()
