# ci/checks, each under its own name.
foreach(check includes exports format opens links)
  add_test(NAME checks.${check}
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/ci/checks ${check}
            --agent $<TARGET_FILE:leakgate_agent>)
endforeach()

# Every command that the README, the guide and the examples show, run as it stands there.
add_test(NAME docs.commands
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/document_commands.py
          --leakgate $<TARGET_FILE:leakgate> --build ${PROJECT_BINARY_DIR})
set_tests_properties(docs.commands PROPERTIES TIMEOUT 300)

# Every message that leakgate can print has its entry in the documents.
add_test(NAME docs.troubleshooting
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/troubleshooting.py)

# examples/bazel, by Bazel itself, where it is installed: it is too large for ci/setup.
add_test(NAME example.bazel
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/bazel_example.py
          --build ${PROJECT_BINARY_DIR})
set_tests_properties(example.bazel PROPERTIES TIMEOUT 300 SKIP_RETURN_CODE 77)

# The templates for pipelines, run as their systems would.
add_test(NAME pipelines.templates
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/pipeline_templates.py
          --leakgate $<TARGET_FILE:leakgate> --build ${PROJECT_BINARY_DIR})
set_tests_properties(pipelines.templates PROPERTIES TIMEOUT 300)

# One suite in the two environments that differ most; tests/reliability/matrix has all.
add_test(NAME reliability.matrix
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/reliability/matrix --quick --jobs 1
          --leakgate $<TARGET_FILE:leakgate> --folder ${PROJECT_BINARY_DIR}/environments)
set_tests_properties(reliability.matrix PROPERTIES TIMEOUT 300)
