# Defines what `cmake --install` installs, and where. The runner finds the agent at
# ../lib from itself, both in the build tree and in a prefix, so the two are installed
# at bin/ and lib/ whatever CMAKE_INSTALL_LIBDIR says.
#
# There are two components: runner, for gating binaries as they are; dev, for
# building tests.
include(CMakePackageConfigHelpers)

# Moves the debug information of a program or library into a file below .debug beside it, where debuggers look: it is
# ten times as large as the rest. With `cmake --install --strip`, and in packages, CMake has left it out already.
function(leakgate_install_debug_file target folder)
  if(NOT CMAKE_OBJCOPY)
    return()
  endif()
  install(CODE "
    if(NOT CMAKE_INSTALL_DO_STRIP)
      set(leakgate_folder \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${folder}\")
      set(leakgate_debug \"\${leakgate_folder}/.debug/$<TARGET_FILE_NAME:${target}>.debug\")
      message(STATUS \"Installing: \${leakgate_debug}\")
      file(MAKE_DIRECTORY \"\${leakgate_folder}/.debug\")
      execute_process(COMMAND \"${CMAKE_OBJCOPY}\" --only-keep-debug --compress-debug-sections
        \"$<TARGET_FILE:${target}>\" \"\${leakgate_debug}\" COMMAND_ERROR_IS_FATAL ANY)
      execute_process(COMMAND \"${CMAKE_OBJCOPY}\" --strip-all --remove-section=.gnu_debuglink
        \"--add-gnu-debuglink=\${leakgate_debug}\" \"\${leakgate_folder}/$<TARGET_FILE_NAME:${target}>\"
        COMMAND_ERROR_IS_FATAL ANY)
      file(CHMOD \"\${leakgate_debug}\" PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
      list(APPEND CMAKE_INSTALL_MANIFEST_FILES \"\${CMAKE_INSTALL_PREFIX}/${folder}/.debug/$<TARGET_FILE_NAME:${target}>.debug\")
    endif()" COMPONENT runner)
endfunction()

install(DIRECTORY plugin/include/leakgate DESTINATION include COMPONENT dev)
install(FILES plugin/listener/listener.cpp plugin/listener/gtest_main.cpp
        DESTINATION share/leakgate/listener COMPONENT dev)
install(FILES LICENSE DESTINATION share/doc/leakgate-dev COMPONENT dev)
install(TARGETS leakgate_calls leakgate_allowance leakgate_listener leakgate_gtest_main EXPORT leakgate)
if(WIN32)
  install(TARGETS leakgate_agent_import EXPORT leakgate)
  install(FILES plugin/agent_import/agent_import.cpp DESTINATION share/leakgate/agent_import COMPONENT dev)
endif()
if(LEAKGATE_BUILD_RUNNER)
  install(TARGETS leakgate EXPORT leakgate RUNTIME DESTINATION bin COMPONENT runner)
  if(WIN32)
    install(TARGETS leakgate_agent RUNTIME DESTINATION bin COMPONENT runner)
    install(FILES ${PROJECT_BINARY_DIR}/lib/leakgate_agent64.lib DESTINATION lib COMPONENT dev)
    install(DIRECTORY ${PROJECT_BINARY_DIR}/lib/leakgate/self_test DESTINATION lib/leakgate COMPONENT runner)
  else()
    install(TARGETS leakgate_agent LIBRARY DESTINATION lib COMPONENT runner)
    leakgate_install_debug_file(leakgate bin)
    leakgate_install_debug_file(leakgate_agent lib)
  endif()
  install(FILES LICENSE README.md DESTINATION share/doc/leakgate COMPONENT runner)
  install(DIRECTORY docs DESTINATION share/doc/leakgate COMPONENT runner)  # which leakgate help prints
  if(LEAKGATE_NOTICES)  # the licences of linked libraries, from ci/package
    install(DIRECTORY ${LEAKGATE_NOTICES} DESTINATION share/doc/leakgate COMPONENT runner)
  endif()
endif()
if(LEAKGATE_BUILD_RUNNER AND NOT WIN32)  # shells of Windows have neither
  # Manual pages and shell completion, as leakgate itself writes them.
  set(written ${PROJECT_BINARY_DIR}/terminal)
  add_custom_command(OUTPUT ${written}/written
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${written}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${written}
    COMMAND leakgate man --output ${written}/man1
    COMMAND leakgate completion bash > ${written}/leakgate
    COMMAND leakgate completion zsh > ${written}/_leakgate
    COMMAND leakgate completion fish > ${written}/leakgate.fish
    COMMAND ${CMAKE_COMMAND} -E touch ${written}/written
    DEPENDS leakgate COMMENT "Writing manual pages and shell completion" VERBATIM)
  add_custom_target(leakgate_terminal ALL DEPENDS ${written}/written)
  # Who has built leakgate alone has not built these.
  install(CODE "
    if(NOT EXISTS \"${written}/written\" OR \"$<TARGET_FILE:leakgate>\" IS_NEWER_THAN \"${written}/written\")
      execute_process(COMMAND \"${CMAKE_COMMAND}\" --build \"${PROJECT_BINARY_DIR}\" --target leakgate_terminal
        COMMAND_ERROR_IS_FATAL ANY)
    endif()" COMPONENT runner)
  install(DIRECTORY ${written}/man1 DESTINATION share/man COMPONENT runner)
  install(FILES ${written}/leakgate
          DESTINATION share/bash-completion/completions COMPONENT runner)
  install(FILES ${written}/_leakgate DESTINATION share/zsh/site-functions COMPONENT runner)
  install(FILES ${written}/leakgate.fish
          DESTINATION share/fish/vendor_completions.d COMPONENT runner)
endif()

# leakgate itself is exported as leakgate::leakgate, for tests to be run under the
# one that their listener came with.
install(EXPORT leakgate NAMESPACE leakgate:: DESTINATION lib/cmake/leakgate
        FILE leakgateTargets.cmake COMPONENT dev)
configure_package_config_file(cmake/leakgateConfig.cmake.in
  ${PROJECT_BINARY_DIR}/leakgateConfig.cmake INSTALL_DESTINATION lib/cmake/leakgate)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/leakgateConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/leakgateConfig.cmake
              ${PROJECT_BINARY_DIR}/leakgateConfigVersion.cmake
              cmake/LeakgateTests.cmake cmake/LeakgateDiscover.cmake cmake/LeakgateText.cmake
              cmake/LeakgateBegin.cmake
        DESTINATION lib/cmake/leakgate COMPONENT dev)
