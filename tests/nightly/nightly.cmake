# What tests/nightly/run adds to the suites of other folders.

# The README's commands, exactly as they are written there: another build of all that is installed.
add_test(NAME docs.install_commands_run
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/install_commands.py)
set_tests_properties(docs.install_commands_run PROPERTIES LABELS nightly TIMEOUT 1800 PROCESSORS 2 COST 200)

# One suite in the two environments that differ most; tests/reliability/matrix has all.
add_test(NAME reliability.matrix
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/reliability/matrix --quick --jobs 1
          --leakgate $<TARGET_FILE:leakgate> --folder ${PROJECT_BINARY_DIR}/environments)
set_tests_properties(reliability.matrix PROPERTIES LABELS nightly TIMEOUT 300)

# What is long or large in tests/reliability/run, small.
foreach(script IN ITEMS two_at_once clock_steps)
  add_test(NAME reliability.${script}
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/reliability/${script} --build ${PROJECT_BINARY_DIR})
  set_tests_properties(reliability.${script} PROPERTIES LABELS nightly TIMEOUT 1800)
endforeach()
