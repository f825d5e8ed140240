# ci/checks, each under its own name.
foreach(check includes exports format opens links)
  add_test(NAME checks.${check}
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/ci/checks ${check}
            --agent $<TARGET_FILE:leakgate_agent>)
endforeach()

# Where there are static libraries of all that the runner uses, it needs the C library only: each further one
# takes a part of a millisecond of each start.
get_property(shared_libraries GLOBAL PROPERTY LEAKGATE_SHARED_LIBRARIES)
if(LEAKGATE_STATIC_LIBRARIES AND NOT shared_libraries)
  add_test(NAME checks.libraries
    COMMAND sh -c "readelf -d \"$1\" | grep NEEDED | grep -v -E '\\[(libc|libm|ld-linux[^.]*)\\.so\\.' && exit 1 || exit 0"
            sh $<TARGET_FILE:leakgate>)
endif()

# Every command that the README, the guide and the examples show, run as it stands there.
add_test(NAME docs.commands
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/document_commands.py
          --leakgate $<TARGET_FILE:leakgate> --build ${PROJECT_BINARY_DIR})
set_tests_properties(docs.commands PROPERTIES TIMEOUT 300)

# What the README has people type to build and install leakgate; tests/nightly runs it all.
add_test(NAME docs.install_commands
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/install_commands.py --quick)

# Every message that leakgate can print has its entry in the documents.
add_test(NAME docs.troubleshooting
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/troubleshooting.py)

# examples/bazel, by Bazel itself, where it is installed: it is too large for ci/setup.
add_test(NAME example.bazel
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/bazel_example.py
          --build ${PROJECT_BINARY_DIR})
set_tests_properties(example.bazel PROPERTIES TIMEOUT 300 SKIP_RETURN_CODE 77)

# The templates for pipelines and action.yml, run as their systems would; tests/nightly/run does so in a root of
# another release, with the package that it makes.
add_test(NAME pipelines.templates
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/pipeline_templates.py --build ${PROJECT_BINARY_DIR})
set_tests_properties(pipelines.templates PROPERTIES TIMEOUT 300 COST 60 SKIP_RETURN_CODE 77)
# The longest first, also where no earlier run tells which they are.
set_tests_properties(checks.format docs.troubleshooting PROPERTIES COST 40)

# What packaging/ has for those who build from source.
add_test(NAME checks.packaging
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/packaging.py --tree ${PROJECT_BINARY_DIR})
set_tests_properties(checks.packaging PROPERTIES TIMEOUT 300)

# What ci/package refuses; tests/nightly/run makes a package.
add_test(NAME checks.package
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/package/refusals.py
          --leakgate $<TARGET_FILE:leakgate> --agent $<TARGET_FILE:leakgate_agent>)

# What ci/release writes beside the packages, and what it refuses.
add_test(NAME checks.release COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/package/release.py)

# What each processor is held against: ci/aarch64 does the same there.
add_test(NAME verdicts COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/verdicts.py
  --leakgate $<TARGET_FILE:leakgate> --fixtures ${PROJECT_BINARY_DIR}/fixtures)
set_tests_properties(verdicts PROPERTIES TIMEOUT 300)

# Recordings of Windows' own heap tracing, which leakgate reads on each system.
if(LEAKGATE_PROFILER)
  add_test(NAME recording_import
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/windows/heap_tracing/commands.py --leakgate $<TARGET_FILE:leakgate>)
endif()

# What is offered to allow, pasted, turns the run green.
set(remedies)
foreach(name kinds_untouched kinds_listener lost_graphs_untouched lost_graphs_listener wrappers_untouched
             mappings_untouched call_sites_untouched places_listener many_causes_untouched conservation_untouched
             reloading_untouched)
  list(APPEND remedies ${PROJECT_BINARY_DIR}/fixtures/${name})
endforeach()
add_test(NAME remedies COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/remedies.py
  $<TARGET_FILE:leakgate> ${remedies})
set_tests_properties(remedies PROPERTIES TIMEOUT 900)
