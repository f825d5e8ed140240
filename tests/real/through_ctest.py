"""Gates a real suite through CTest, one process a test, as a pipeline that uses CTest does."""
import json
import os
import pathlib
import shutil
import subprocess
import xml.etree.ElementTree

from outcome import Outcome, outcome_of
from running import list_tests, scratch_folder
from suites import ROOT, Suite


def quoted(word: object) -> str:
    return f"[==[{word}]==]"


def add_test(suite: Suite, name: str, command: list[object], scratch: pathlib.Path) -> str:
    scratch.mkdir(exist_ok=True)
    # Tests of one folder run one after the other.
    return "\n".join((
        f"add_test({quoted(name)} {' '.join(quoted(word) for word in command)})",
        f"set_tests_properties({quoted(name)} PROPERTIES TIMEOUT 300 "
        f"WORKING_DIRECTORY {quoted(suite.working_folder(str(scratch)))} "
        f"ENVIRONMENT {quoted(f'TEST_TMPDIR={scratch}')} RESOURCE_LOCK {scratch.name})\n"))


def failed_tests(junit: pathlib.Path) -> set[str]:
    cases = xml.etree.ElementTree.parse(junit).getroot().findall("testcase")
    return {case.get("name", "") for case in cases if case.get("status") != "run"}


def gate_through_ctest(suite: Suite, leakgate: str) -> Outcome:
    folder = ROOT / "ctest" / suite.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    tests = [(binary, test) for binary in suite.binaries if binary not in suite.not_alone
             for test in list_tests(suite, binary)]
    with scratch_folder() as scratch:
        lines, reports = [], []
        for number, (binary, test) in enumerate(tests):
            report = folder / f"{number}.json"
            command = [leakgate, "run", "--report", f"json={report}", "--",
                       *suite.command(binary), f"--gtest_filter={test}"]
            folder_of_test = pathlib.Path(scratch) / (binary if suite.needs_order else str(number))
            lines.append(add_test(suite, f"{binary}:{test}", command, folder_of_test))
            reports.append((binary, test, report))
        # What CMake's add_test writes for ctest to read; there is nothing to build.
        (folder / "CTestTestfile.cmake").write_text("".join(lines))
        subprocess.run(["ctest", "-j2", "--quiet", "--output-junit", "junit.xml"], cwd=folder, check=False,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       env={key: value for key, value in os.environ.items() if not key.startswith("CTEST_")})
    return collected(suite, folder, reports)


def collected(suite: Suite, folder: pathlib.Path, reports: list[tuple[str, str, pathlib.Path]]) -> Outcome:
    failed = failed_tests(folder / "junit.xml")
    missing = [f"{binary}:{test}: no report" for binary, test, report in reports if not report.exists()]
    read = [(binary, test, json.loads(report.read_text())) for binary, test, report in reports if report.exists()]
    outcome = outcome_of(suite, "ctest", [(binary, report) for binary, _, report in read])
    outcome.problems += missing
    ran = {test.key for test in outcome.tests}
    outcome.problems += [f"{binary}:{test} did not run" for binary, test, _ in read if (binary, test) not in ran]
    # CTest must see what the report says.
    outcome.problems += [
        f"{binary}:{test}: exit code {report['exit_code']}, and CTest says otherwise"
        for binary, test, report in read if (f"{binary}:{test}" in failed) != (report["exit_code"] != 0)]
    return outcome
