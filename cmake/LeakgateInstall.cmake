# What `cmake --install` puts where. The runner finds the agent at ../lib from
# itself, in the build tree and in a prefix alike, so the two are installed at
# bin/ and lib/ whatever CMAKE_INSTALL_LIBDIR says.
include(CMakePackageConfigHelpers)

install(DIRECTORY plugin/include/leakgate DESTINATION include)
install(FILES plugin/listener/listener.cpp plugin/listener/gtest_main.cpp
        DESTINATION share/leakgate/listener)
install(FILES LICENSE DESTINATION share/doc/leakgate)
install(TARGETS leakgate_listener leakgate_gtest_main EXPORT leakgate)
if(LEAKGATE_BUILD_RUNNER)
  install(TARGETS leakgate EXPORT leakgate RUNTIME DESTINATION bin)
  install(TARGETS leakgate_agent LIBRARY DESTINATION lib)
endif()

# leakgate itself is exported as leakgate::leakgate, for tests to be run under the
# one that their listener came with.
install(EXPORT leakgate NAMESPACE leakgate:: DESTINATION lib/cmake/leakgate
        FILE leakgateTargets.cmake)
configure_package_config_file(cmake/leakgateConfig.cmake.in
  ${PROJECT_BINARY_DIR}/leakgateConfig.cmake INSTALL_DESTINATION lib/cmake/leakgate)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/leakgateConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/leakgateConfig.cmake
              ${PROJECT_BINARY_DIR}/leakgateConfigVersion.cmake
              cmake/LeakgateTests.cmake cmake/LeakgateDiscover.cmake cmake/LeakgateText.cmake
              cmake/LeakgateBegin.cmake
        DESTINATION lib/cmake/leakgate)
