"""What Debian's bazel-bootstrap asks for, so that it downloads nothing.

    apt install bazel-bootstrap bazel-platforms bazel-rules-java bazel-rules-proto bazel-skylib zip
"""

# Debian's rules for C++ are of a later Bazel than Debian's.
_RULES = ["cc_binary", "cc_import", "cc_library", "cc_proto_library", "cc_test", "cc_toolchain", "cc_toolchain_suite"]

def _rules_cc(context):
    context.file("BUILD")
    context.file("cc/BUILD")
    context.file("cc/defs.bzl", "".join(["{0} = native.{0}\n".format(rule) for rule in _RULES]))

# Rules of a later Bazel than Debian's, which has this one itself.
def _rules_shell(context):
    context.file("BUILD")
    context.file("shell/BUILD")
    context.file("shell/sh_binary.bzl", "sh_binary = native.sh_binary\n")

# Each cc_test names it; only `bazel coverage` uses it.
def _no_coverage_tools(context):
    context.file("BUILD", """filegroup(name = "coverage_report_generator", visibility = ["//visibility:public"])""")

_rules_cc_repository = repository_rule(implementation = _rules_cc)
_rules_shell_repository = repository_rule(implementation = _rules_shell)
_no_coverage_tools_repository = repository_rule(implementation = _no_coverage_tools)

def debian_repositories():
    for name, path in {
        "bazel_skylib": "tools/skylib",
        "platforms": "tools/platforms",
        "rules_java": "rules/java",
        "rules_proto": "rules/proto",
    }.items():
        native.local_repository(name = name, path = "/usr/share/bazel/" + path)
    _rules_cc_repository(name = "rules_cc")
    _rules_shell_repository(name = "rules_shell")
    _no_coverage_tools_repository(name = "remote_coverage_tools")
