#!/usr/bin/env python3
"""Runs the commands by which README.md has people build and install leakgate, exactly as they are
written there, in a copy of the sources, and with a home of its own; what is installed then gates a
test, and so does action.yml, which builds the same without an archive. That takes minutes. With --quick it installs nothing, and has the build tool only say what it
would do: that the commands work, and build what people install and none of our tests.

Usage: tests/install_commands.py [--quick]
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/support"))
from github_action import action_steps, runner_variables  # noqa: E402: found by the line above
from readme import install_commands  # noqa: E402

LEAKS = """#include <gtest/gtest.h>
TEST(Cache, KeepsWhatItIsGiven) { *new volatile int = 1; }
"""
SOURCES = ("CMakeLists.txt", "CMakePresets.json", "LICENSE", "README.md", "ci", "cmake", "common", "docs", "examples",
           "plugin", "runner", "tests")


class Copy:
    """The sources in a scratch folder, which is also the home of what runs there."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self._environment = {**os.environ, "HOME": str(folder)}
        for name in SOURCES:
            source = ROOT / name
            copy = shutil.copytree if source.is_dir() else shutil.copy
            copy(source, folder / name)

    def run(self, command: str, exit_code: int = 0, variables: dict[str, str] | None = None) -> str:
        print(f"$ {command}", flush=True)
        done = subprocess.run(["bash", "-e", "-c", command], cwd=self.folder, env=self._environment | (variables or {}),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
        if done.returncode != exit_code:
            sys.exit(f"{done.stdout[-4000:]}\nexit code {done.returncode}, not {exit_code}")
        return done.stdout


def check_plan(copy: Copy) -> None:
    setup, configure, build, _ = install_commands()
    lines = [line.strip() for line in action_steps({}, str(copy.folder))[0].script.splitlines()]
    if any(command not in lines for command in (setup, configure, build)):
        sys.exit("action.yml does not build leakgate by the README's commands")
    copy.run(f"bash -n {setup}")
    copy.run(configure)
    copy.run(f"{build} -- -n")
    plan = copy.run("ninja -C build/release -t commands")
    for product in ("bin/leakgate", "lib/libleakgate_agent.so"):
        if product not in plan:
            sys.exit(f"{build} would not make {product}")
    for others in ("/tests/", "/examples/"):
        if f"{copy.folder}{others}" in plan:
            sys.exit(f"{build} would compile what nobody installs, in {others}")
    if "-Werror" in (copy.folder / "build/release/build.ninja").read_text():
        sys.exit("a warning of another compiler would stop the build of who installs leakgate")


def check_installation(copy: Copy) -> None:
    for command in install_commands():
        copy.run(command)
    (copy.folder / "cache_test.cpp").write_text(LEAKS)
    copy.run("g++ -g cache_test.cpp -lgtest_main -lgtest -o cache_test")
    said = copy.run("~/.local/bin/leakgate run -- ./cache_test", exit_code=1)
    if "Failure in Cache.KeepsWhatItIsGiven" not in said:
        sys.exit(f"what was installed does not tell of the leak:\n{said}")
    print("what was installed gates a test")
    sections = copy.run("readelf -WS ~/.local/bin/leakgate ~/.local/lib/libleakgate_agent.so")
    if ".debug_info" in sections or sections.count(".gnu_debuglink") != 2:
        sys.exit(f"what was installed has not its debug information apart:\n{sections}")
    copy.run("~/.local/bin/leakgate help troubleshooting | grep '^# Troubleshooting'")
    print("without its debug information, and with its documents")
    shutil.rmtree(copy.folder / "build/release/terminal")  # as ci/quickstart leaves it, which builds leakgate alone
    page = copy.folder / ".local/share/man/man1/leakgate-help.1"
    page.unlink()
    copy.run(install_commands()[-1])
    if not page.is_file():
        sys.exit("the manual pages are not written where they are missing")
    print("and writes its manual pages, where nobody has built them")


def check_action(copy: Copy) -> None:
    (copy.folder / "runner").mkdir()
    *before, gate = action_steps({"build": "true", "command": "./cache_test"}, str(copy.folder))
    for step in before:
        copy.run(step.script, variables=runner_variables(str(copy.folder / "runner")) | step.variables)
    said = copy.run(gate.script, exit_code=1, variables=runner_variables(str(copy.folder / "runner")) | gate.variables)
    if "::error file=cache_test.cpp" not in said:
        sys.exit(f"the action does not tell of the leak:\n{said}")
    print("the action builds leakgate, and gates a test")


def main() -> None:
    if sys.argv[1:] not in ([], ["--quick"]):
        sys.exit("usage: tests/install_commands.py [--quick]")
    with tempfile.TemporaryDirectory(prefix="leakgate-install-") as scratch:
        copy = Copy(pathlib.Path(scratch))
        if sys.argv[1:]:
            check_plan(copy)
        else:
            check_installation(copy)
            check_action(copy)


if __name__ == "__main__":
    main()
