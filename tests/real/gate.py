#!/usr/bin/env python3
"""Gates a real suite and holds the outcome to what is committed.

untouched, listener: with its budget file every test passes. Without it, exactly the tests that the
file explains are over budget: no noise is unexplained, no explanation unused.
planted: the binary with the planted leak fails, in each finding at the planted line.

Usage: gate.py SUITE [untouched|listener|planted] [--leakgate PATH]
"""
import argparse
import concurrent.futures
import fnmatch
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from suites import ROOT, SUITES, Suite


def run_binary(suite: Suite, binary: str, mode: str, leakgate: str, budgets: list[str]) -> dict:
    """The report of one gated run."""
    # In memory where that is to be had: databases that sync would time the disk.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="leakgate-real-", dir=memory) as scratch:
        report = pathlib.Path(scratch) / "report.json"
        done = subprocess.run(
            [leakgate, "run", "--report", f"json={report}", *budgets, "--", *suite.command(binary, mode)],
            cwd=suite.source if suite.runs_in_source else scratch,
            env={**os.environ, "TEST_TMPDIR": scratch}, capture_output=True, text=True,
            errors="replace", check=False)
        if not report.exists():
            sys.exit(f"gate: {binary}: no report; leakgate said:\n{done.stderr}")
        return json.loads(report.read_text())


def gate(suite: Suite, mode: str, leakgate: str, budgets: list[str]) -> dict[str, dict]:
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        reports = pool.map(lambda binary: run_binary(suite, binary, mode, leakgate, budgets), suite.binaries)
        return dict(zip(suite.binaries, reports))


def tests_of(report: dict) -> list[dict]:
    return [window for window in report["windows"] if window["kind"] == "test"]


def explained_tests(suite: Suite) -> list[str]:
    if not suite.budget.exists():
        return []
    overrides = json.loads(suite.budget.read_text())["overrides"]
    return [test for override in overrides for test in override["tests"]]


def matches(name: str, patterns: list[str] | tuple[str, ...]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def problems_with_budget(suite: Suite, mode: str, reports: dict[str, dict]) -> list[str]:
    problems = []
    boundaries = {"untouched": "stream", "listener": "listener"}[mode]
    for binary, report in reports.items():
        wrong = [f"{test['name']} {test['verdict']}" for test in tests_of(report) if test["verdict"] != "pass"]
        if wrong:
            problems.append(f"{binary}: {', '.join(wrong)}")
        if report["tracing"]["boundaries"] != boundaries:
            problems.append(f"{binary}: boundaries by {report['tracing']['boundaries']}, not {boundaries}")
        if report["tracing"]["drops"]:
            problems.append(f"{binary}: drops: {report['tracing']['drops']}")
        if report["exit_code"] != 0:
            problems.append(f"{binary}: exit code {report['exit_code']}")
    count = sum(len(tests_of(report)) for report in reports.values())
    if count != suite.tests:
        problems.append(f"{count} tests ran, not {suite.tests}")
    return problems


def problems_without_budget(suite: Suite, reports: dict[str, dict]) -> list[str]:
    over = {test["name"] for report in reports.values() for test in tests_of(report)
            if test["verdict"] != "pass"}
    explained = explained_tests(suite)
    problems = [f"{name} is over budget, and {suite.budget.name} does not say why"
                for name in sorted(over) if not matches(name, explained)]
    problems += [f"{name} is within budget; remove it from {suite.budget.name}"
                 for name in explained if name not in over and name not in suite.by_timing]
    return problems


def check_planted(suite: Suite, leakgate: str) -> None:
    report = run_binary(suite, suite.planted, "planted", leakgate, ["--budgets", str(suite.budget)])
    source = (ROOT / "planted" / suite.name / f"{suite.planted}.cc").read_text().splitlines()
    planted_line = next(number for number, text in enumerate(source, 1) if "new std::string" in text)
    frames = [finding["stack"][finding["user_frame"]]
              for test in tests_of(report) for finding in test["findings"]]
    strays = [frame for frame in frames if frame["line"] != planted_line]
    if report["exit_code"] != 1 or not frames or strays:
        sys.exit(f"gate: {suite.planted}: exit code {report['exit_code']}, "
                 f"{len(frames)} findings, not at line {planted_line}: {strays}")
    over = sum(test["verdict"] == "over_budget" for test in tests_of(report))
    print(f"gate: {suite.planted} with a planted leak: {over} of {len(tests_of(report))} tests over budget, "
          f"all at line {planted_line}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument("mode", choices=["untouched", "listener", "planted"], nargs="?", default="untouched")
    parser.add_argument("--leakgate", default=str(ROOT.parent / "release/bin/leakgate"))
    options = parser.parse_args()
    suite = SUITES[options.suite]

    if options.mode == "planted":
        return check_planted(suite, options.leakgate)
    bare = gate(suite, options.mode, options.leakgate, [])
    problems = problems_without_budget(suite, bare)
    reports = bare
    if suite.budget.exists():
        reports = gate(suite, options.mode, options.leakgate, ["--budgets", str(suite.budget)])
    problems += problems_with_budget(suite, options.mode, reports)
    for problem in problems:
        print(f"gate: {suite.name}: {problem}")
    if problems:
        sys.exit(1)
    over = sum(test["verdict"] != "pass" for report in bare.values() for test in tests_of(report))
    print(f"gate: {suite.name} ({options.mode}): {suite.tests} tests of {len(suite.binaries)} binaries: "
          f"without a budget file {over} over budget, all explained; with it all pass")


if __name__ == "__main__":
    main()
