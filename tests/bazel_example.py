#!/usr/bin/env python3
"""Runs examples/bazel with Bazel: what fails, what is kept of it, and what is cached.

Exit code 77 where there is no Bazel. It needs the packages that examples/bazel/debian.bzl names, and
no network.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SKIPPED = 77
TESTS_FAILED = 3  # Bazel's exit code
# What leakgate itself gives a program, and what shells and loaders change.
NOT_OF_THE_PROTOCOL = re.compile(r"LD_PRELOAD|LEAKGATE_\w+|_|SHLVL|PWD|OLDPWD")

# A test that tells its environment; in two shards, each of which has one test to run.
PROTOCOL_BUILD = """
load("@rules_cc//cc:defs.bzl", "cc_test")
cc_test(name = "protocol_test", srcs = ["protocol_test.cpp"], shard_count = 2,
        linkopts = ["-lgtest_main", "-lgtest"])
"""
PROTOCOL_TEST = """
#include <gtest/gtest.h>
#include <cstdlib>
#include <fstream>
#include <string>
extern char** environ;
TEST(Protocol, First) {}
TEST(Protocol, Second) {}
struct Tell : testing::Environment {
  void SetUp() override {
    std::ofstream file(std::getenv("TEST_UNDECLARED_OUTPUTS_DIR") + std::string("/environment"));
    for (char** variable = environ; *variable != nullptr; ++variable) file << *variable << '\\n';
  }
};
auto* const tell = testing::AddGlobalTestEnvironment(new Tell);
"""


class Workspace:
    """A copy of the example, with leakgate as if it were installed, and a Bazel of its own."""

    def __init__(self, scratch: pathlib.Path, build: pathlib.Path):
        self.path = scratch / "workspace"
        shutil.copytree(ROOT / "examples/bazel", self.path)
        text = (self.path / "WORKSPACE").read_text()
        (self.path / "WORKSPACE").write_text(text.replace('"../.."', f'"{ROOT}"'))
        self.prefix = scratch / "prefix"
        for source, target in ((build / "bin/leakgate", "bin/leakgate"),
                               (build / "lib/libleakgate_agent.so", "lib/libleakgate_agent.so")):
            (self.prefix / target).parent.mkdir(parents=True)
            shutil.copy(source, self.prefix / target)
        shutil.copytree(ROOT / "plugin/include", self.prefix / "include")
        shutil.copytree(ROOT / "plugin/listener", self.prefix / "share/leakgate/listener")
        self._bazel = ["bazel", "--nohome_rc", "--max_idle_secs=60",
                       f"--output_user_root={scratch / 'bazel'}"]

    def bazel(self, command: str, *arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run([*self._bazel, command, *arguments], cwd=self.path, capture_output=True,
                              text=True, check=False)

    def test(self, *arguments: str) -> subprocess.CompletedProcess:
        return self.bazel("test", "--noshow_progress", f"--repo_env=LEAKGATE_PREFIX={self.prefix}", *arguments)

    def merge(self, *results: str) -> subprocess.CompletedProcess:
        return subprocess.run([self.prefix / "bin/leakgate", "merge", *results], cwd=self.path,
                              capture_output=True, text=True, check=False)

    def log(self, name: str) -> str:
        return (self.path / "bazel-testlogs" / name).read_text()

    def outputs(self, test: str) -> zipfile.ZipFile:
        return zipfile.ZipFile(self.path / "bazel-testlogs" / test / "test.outputs/outputs.zip")

    def environment(self, shard: int) -> dict[str, str]:
        text = self.outputs(f"protocol/protocol_test/shard_{shard}_of_2").read("environment").decode()
        variables = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
        return {name: re.sub(r"/(sandbox|execroot)/\S*?leakgate_example", "", value)
                for name, value in variables.items() if not NOT_OF_THE_PROTOCOL.fullmatch(name)}


def check(what: str, holds: bool, done: subprocess.CompletedProcess | str = "") -> bool:
    print(f"{'ok   ' if holds else 'WRONG'} {what}", flush=True)
    if not holds:
        print(done if isinstance(done, str) else f"exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return holds


def leak_is_told(workspace: Workspace):
    done = workspace.test("--config=leaks", "//...")
    yield check("a leak fails the build", done.returncode == TESTS_FAILED, done)
    yield check("the test within budget passes", "session_cache_test" in done.stdout + done.stderr and
                re.search(r"session_cache_test +PASSED", done.stdout + done.stderr) is not None, done)
    leaking, other = "jobs/queue_test/shard_2_of_2", "jobs/queue_test/shard_1_of_2"
    log = workspace.log(f"{leaking}/test.log")
    yield check("test.log has the finding, by files of the workspace",
                "\njobs/queue_test.cpp:12: Failure in Queue.DropsWhatIsLeft\n" in log, log)
    xml = workspace.log(f"{leaking}/test.xml")
    yield check("test.xml has it", '<testcase classname="Queue" name="DropsWhatIsLeft"' in xml
                and 'type="leakgate.over_budget"' in xml, xml)
    xml = workspace.log(f"{other}/test.xml")
    yield check("the other shard's has not", 'name="IsEmptied"' in xml and "<failure" not in xml, xml)
    names = workspace.outputs(leaking).namelist()
    yield check("the report is among the undeclared outputs", names == ["queue_test-1.json"], str(names))


def merge_finds_all(workspace: Workspace):
    done = workspace.merge("bazel-testlogs")
    yield check("merge finds each shard's report", done.returncode == 1 and
                "leakgate: 3 runs of 2 binaries; 4 tests: 3 pass, 1 over budget; 1 run failed" in done.stderr, done)
    done = workspace.merge("bazel-testlogs/jobs/queue_test/shard_1_of_2")
    yield check("merge misses a shard that is not there", done.returncode == 3 and
                "of the 2 shards of jobs/queue_test, no result of 2" in done.stderr, done)


def budgets_are_inputs(workspace: Workspace):
    done = workspace.test("--config=leaks", "//sessions/...")
    yield check("what passed is cached", done.returncode == 0 and "(cached) PASSED" in done.stdout + done.stderr, done)
    budget = workspace.path / "sessions/sessions.leakgate.json"
    budget.write_text(budget.read_text().replace('"bytes": 256', '"bytes": 8'))
    done = workspace.test("--config=leaks", "//sessions/...")
    log = workspace.log("sessions/session_cache_test/test.log")
    yield check("a tighter budget runs it again", done.returncode == TESTS_FAILED, done)
    yield check("with the listener it fails inside GoogleTest",
                "[  FAILED  ] SessionCache.KeepsWhatWasOpened" in log
                and "(sessions, sessions/sessions.leakgate.json:8, owner team-sessions)" in log, log)


def runs_stay_apart(workspace: Workspace):
    done = workspace.test("--config=leaks", "--runs_per_test=2", "//jobs/...")
    yield check("each run of several fails", done.returncode == TESTS_FAILED, done)
    runs = [f"bazel-testlogs/jobs/queue_test/shard_{shard}_of_2_run_{run}_of_2" for shard in (1, 2) for run in (1, 2)]
    done = workspace.merge(*runs, "--expect", "4")
    yield check("and has a report of its own", done.returncode == 1 and
                "leakgate: 4 runs of 1 binary; 2 tests: 1 pass, 1 over budget; 2 runs failed" in done.stderr, done)


def protocol_is_as_ever(workspace: Workspace):
    package = workspace.path / "protocol"
    package.mkdir()
    (package / "BUILD").write_text(PROTOCOL_BUILD)
    (package / "protocol_test.cpp").write_text(PROTOCOL_TEST)
    told = []
    for config in ([], ["--config=leaks"]):
        done = workspace.test(*config, "//protocol/...")
        yield check(f"the test of the protocol passes {' '.join(config)}", done.returncode == 0, done)
        told.append([workspace.environment(shard) for shard in (1, 2)])
    for shard, (alone, gated) in enumerate(zip(*told), 1):
        differing = {name for name in alone | gated if alone.get(name) != gated.get(name)}
        yield check(f"shard {shard} has Bazel's variables, all of them and as they were",
                    not differing and {"TEST_TOTAL_SHARDS", "TEST_SHARD_INDEX", "TEST_SHARD_STATUS_FILE",
                                       "XML_OUTPUT_FILE", "TEST_TMPDIR"} <= set(gated), str(sorted(differing)))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    options = parser.parse_args()
    if shutil.which("bazel") is None:
        print("skipped: no Bazel here")
        sys.exit(SKIPPED)

    scratch = pathlib.Path(tempfile.mkdtemp(prefix="leakgate-bazel-"))
    workspace = Workspace(scratch, options.build)
    try:
        steps = (leak_is_told, merge_finds_all, budgets_are_inputs, runs_stay_apart, protocol_is_as_ever)
        results = [holds for step in steps for holds in step(workspace)]
    finally:
        workspace.bazel("shutdown")
        subprocess.run(["chmod", "-R", "u+w", str(scratch)], check=False)  # Bazel's outputs are not
        shutil.rmtree(scratch, ignore_errors=True)
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
