"""leakgate, as `cmake --install` put it into a prefix."""

_BUILD = """
package(default_visibility = ["//visibility:public"])

exports_files(["bin/leakgate"])

filegroup(name = "leakgate", srcs = ["bin/leakgate"])

filegroup(name = "agent", srcs = ["lib/libleakgate_agent.so"])

# Instead of GoogleTest's own; here with the GoogleTest of the system.
cc_library(
    name = "gtest_main",
    srcs = glob(["listener/*.cpp"]),
    hdrs = glob(["include/leakgate/*.h"]),
    includes = ["include"],
    linkopts = ["-lgtest", "-ldl"],
)
"""

def _prefix(context):
    given = context.os.environ.get("LEAKGATE_PREFIX")
    for prefix in [given] if given else ["/usr/local", "/usr"]:
        if context.path(prefix + "/bin/leakgate").exists:
            return prefix
    fail("no bin/leakgate in %s: install leakgate, or set LEAKGATE_PREFIX" % (given or "/usr/local or /usr"))

def _leakgate_repository(context):
    prefix = _prefix(context)
    for link, target in {
        "bin/leakgate": "bin/leakgate",
        "lib/libleakgate_agent.so": "lib/libleakgate_agent.so",
        "include/leakgate": "include/leakgate",
        "listener": "share/leakgate/listener",
    }.items():
        context.symlink(prefix + "/" + target, link)
    context.file("BUILD", _BUILD)

leakgate_repository = repository_rule(
    implementation = _leakgate_repository,
    environ = ["LEAKGATE_PREFIX"],
    local = True,
)
