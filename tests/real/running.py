"""Runs the binaries of real suites, alone or gated, and reads what leakgate reports of them."""
import contextlib
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from suites import ROOT, Suite

LEAKGATE = str(ROOT.parent / "release/bin/leakgate")
# Dispositions of findings that count for no limit.
NOT_COUNTED = {"framework", "allowed", "released_later"}
# A test that hangs when run alone or repeated must not hang the rest.
TIMEOUT_SECONDS = 600


@contextlib.contextmanager
def scratch_folder() -> Iterator[str]:
    """In memory where that is to be had: databases that sync would time the disk."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="leakgate-real-", dir=memory) as scratch:
        yield scratch


@dataclasses.dataclass(frozen=True)
class Ended:
    pid: int
    code: int
    stdout: str
    stderr: str


def run_in(suite: Suite, scratch: str, command: list[str], **environment: str) -> Ended:
    with subprocess.Popen(
            command, cwd=suite.working_folder(scratch), env={**os.environ, "TEST_TMPDIR": scratch, **environment},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            errors="replace") as process:
        try:
            stdout, stderr = process.communicate(timeout=TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        return Ended(process.pid, process.returncode, stdout, stderr)


def run_gated(suite: Suite, command: list[str], leakgate: str, options: list[str] = []) -> dict:
    """The report of one gated run of `command`."""
    with scratch_folder() as scratch:
        report = pathlib.Path(scratch) / "report.json"
        done = run_in(suite, scratch, [leakgate, "run", "--report", f"json={report}", *options, "--", *command])
        if not report.exists():
            sys.exit(f"real: {command[0]}: no report; leakgate said:\n{done.stderr[-4000:]}")
        return json.loads(report.read_text())


def list_tests(suite: Suite, binary: str) -> list[str]:
    """The names of the tests of a binary that are not disabled."""
    with scratch_folder() as scratch:
        return names_listed(run_in(suite, scratch, [*suite.command(binary), "--gtest_list_tests"]).stdout)


def names_listed(listed: str) -> list[str]:
    """The same of what it prints for --gtest_list_tests."""
    names, group = [], ""
    for line in listed.splitlines():
        name = line.split("#")[0].rstrip()
        # Some programs print more than their tests.
        if group and re.fullmatch(r"  [\w/]+", name):
            names.append(group + name.strip())
        elif re.fullmatch(r"[\w/]+\.", name):
            group = name
    return [name for name in names if "DISABLED_" not in name]


def tests_of(report: dict) -> list[dict]:
    return [window for window in report["windows"] if window["kind"] == "test"]


def over_budget(report: dict) -> list[dict]:
    return [test for test in tests_of(report) if test["verdict"] == "over_budget"]


def is_charged(finding: dict) -> bool:
    """Whether it puts its test over budget, where no file sets a limit: lost, or left by each repetition."""
    disposition = finding.get("disposition", "outstanding")
    if "framework_rule" in finding or disposition in NOT_COUNTED:
        return False
    return finding.get("reach") in ("lost", "indirectly_lost") or disposition == "steady"


def charged(test: dict) -> list[dict]:
    return [finding for finding in [*test["findings"], *test.get("mappings", [])] if is_charged(finding)]


def call_site(suite: Suite, finding: dict) -> str:
    """Where the suite allocated it, as FILE:LINE below its source folder."""
    stack = finding["stack"]
    index = finding["user_frame"]
    # The innermost frame of the suite's own files, if leakgate names one that has none.
    frames = ([stack[index]] if index is not None else []) + stack
    for frame in frames:
        path = pathlib.Path(frame["file"])
        for folder in (suite.source, ROOT / "plants" / suite.name):
            if frame["line"] and path.is_relative_to(folder):
                return f"{path.relative_to(folder)}:{frame['line']}"
    return frames[0]["function"] if frames else "unknown"
