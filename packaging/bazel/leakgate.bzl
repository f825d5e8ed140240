"""leakgate for Bazel: built from the checkout that this file lies in, or as `cmake --install` put it into the prefix
that LEAKGATE_PREFIX names. Bazel builds it again when it fetches the repository again: bazel fetch --force"""

_BUILD = """
load("@rules_cc//cc:defs.bzl", "cc_library")

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

def _run(context, *command):
    done = context.execute(command, timeout = 7200, quiet = False)
    if done.return_code != 0:
        fail("leakgate was not built; on Debian, ci/setup of its sources installs what it needs: %s\n%s%s" %
             (" ".join([str(word) for word in command]), done.stdout, done.stderr))

def _build(context):
    """Builds and installs the checkout inside of the repository; returns the prefix."""
    checkout = context.path(Label("//:CMakeLists.txt")).dirname
    prefix = context.path("prefix")
    options = ["-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DLEAKGATE_LINES_ONLY=ON", "-DLEAKGATE_BUILD_TESTS=OFF", "-DLEAKGATE_BUILD_EXAMPLES=OFF"]
    _run(context, "cmake", "-G", "Ninja", "-S", checkout, "-B", "build", *options)
    _run(context, "cmake", "--build", "build")
    _run(context, "cmake", "--install", "build", "--prefix", prefix)
    context.delete("build")
    return str(prefix)

def _leakgate_repository(context):
    prefix = context.os.environ.get("LEAKGATE_PREFIX")
    if not prefix:
        prefix = _build(context)
    elif not context.path(prefix + "/bin/leakgate").exists:
        fail("no bin/leakgate in %s: install leakgate there, or do not set LEAKGATE_PREFIX" % prefix)
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
)
