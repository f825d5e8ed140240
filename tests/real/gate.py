#!/usr/bin/env python3
"""Gates a real suite in one mode, with no budget file, and holds it to what is known of it.

untouched, listener: one process a binary, as it is or with leakgate's listener linked in.
ctest: as it is, through CTest, one process a test.
planted: the binary that a patch made leak is over budget, in each finding at the planted line.

Usage: gate.py SUITE [untouched|listener|ctest|planted] [--leakgate PATH]
"""
import argparse
import sys

from expectations import FALSE_ALARM, differences, expected_of, reference_leaks
from outcome import MODES, Outcome, gate_whole
from running import LEAKGATE, charged, over_budget, run_gated, tests_of
from suites import ROOT, SUITES, Suite
from through_ctest import gate_through_ctest


def gate(suite: Suite, mode: str, leakgate: str) -> Outcome:
    return gate_through_ctest(suite, leakgate) if mode == "ctest" else gate_whole(suite, mode, leakgate)


def check_planted(suite: Suite, leakgate: str) -> None:
    report = run_gated(suite, suite.command(suite.planted, "planted"), leakgate)
    source = next((ROOT / "planted" / suite.name).rglob(f"{suite.planted}.cc"))
    planted_line = next(number for number, text in enumerate(source.read_text().splitlines(), 1)
                        if "new std::string" in text)
    frames = [finding["stack"][finding["user_frame"]] for test in over_budget(report) for finding in charged(test)]
    strays = [frame for frame in frames if frame["line"] != planted_line]
    if report["exit_code"] != 1 or not frames or strays:
        sys.exit(f"gate: {suite.planted}: exit code {report['exit_code']}, "
                 f"{len(frames)} findings, not at line {planted_line}: {strays}")
    print(f"gate: {suite.planted} with a planted leak: {len(over_budget(report))} of {len(tests_of(report))} tests "
          f"over budget, all at line {planted_line}")


def summary(suite: Suite, mode: str, outcome: Outcome) -> str:
    alarms = sum(entry["judged"] == FALSE_ALARM for entry in expected_of(suite))
    return (f"{suite.name} ({mode}): {len(outcome.tests)} tests of {len(suite.binaries)} binaries: "
            f"{outcome.candidates} candidates, {len(outcome.over_budget)} over budget as expected, "
            f"{alarms} false alarms; all {len(reference_leaks(suite))} leaks of the references found")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument("mode", choices=[*MODES, "planted"], nargs="?", default="untouched")
    parser.add_argument("--leakgate", default=LEAKGATE)
    options = parser.parse_args()
    suite = SUITES[options.suite]

    if options.mode == "planted":
        return check_planted(suite, options.leakgate)
    outcome = gate(suite, options.mode, options.leakgate)
    problems = differences(suite, outcome)
    for problem in problems:
        print(f"gate: {suite.name} ({options.mode}): {problem}")
    if problems:
        sys.exit(1)
    print(f"gate: {summary(suite, options.mode, outcome)}")


if __name__ == "__main__":
    main()
