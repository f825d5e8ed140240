# ci/checks, each under its own name.
foreach(check includes exports format links)
  add_test(NAME checks.${check}
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/ci/checks ${check}
            --agent $<TARGET_FILE:leakgate_agent>)
endforeach()

# Every command that the README shows, run as it stands there.
add_test(NAME readme.commands
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/readme_commands.py
          --leakgate $<TARGET_FILE:leakgate> --build ${PROJECT_BINARY_DIR})
set_tests_properties(readme.commands PROPERTIES TIMEOUT 300)

# Every message that leakgate can print has its entry in the documents.
add_test(NAME docs.troubleshooting
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/troubleshooting.py)

# The templates for pipelines, run as their systems would.
add_test(NAME pipelines.templates
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/pipeline_templates.py
          --leakgate $<TARGET_FILE:leakgate> --build ${PROJECT_BINARY_DIR})
set_tests_properties(pipelines.templates PROPERTIES TIMEOUT 300)
