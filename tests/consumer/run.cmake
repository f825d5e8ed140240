# Configures, builds and tests the consumer project in a build tree of its own.
# Arguments: SOURCE, BUILD, LEAKGATE (the command), and one of
#   CHECKOUT  use leakgate by add_subdirectory of this checkout
#   TREE      install this build tree first, and find_package the prefix
#   PREFIX    find_package this prefix
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${BUILD})
if(CHECKOUT)
  set(options -DLEAKGATE_CHECKOUT=${CHECKOUT} -DLEAKGATE_BUILD_RUNNER=OFF
      -DLEAKGATE_EXECUTABLE=${LEAKGATE})
elseif(PREFIX)
  set(options -DCMAKE_PREFIX_PATH=${PREFIX})
else()
  run(${CMAKE_COMMAND} --install ${TREE} --prefix ${BUILD}/prefix)
  set(options -DCMAKE_PREFIX_PATH=${BUILD}/prefix)
endif()
run(${CMAKE_COMMAND} -G Ninja -S ${SOURCE} -B ${BUILD} ${options})
run(${CMAKE_COMMAND} --build ${BUILD})
run(${CMAKE_CTEST_COMMAND} --test-dir ${BUILD} --output-on-failure)
