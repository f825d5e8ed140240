#!/usr/bin/env python3
"""Gates fixtures in both modes and holds each test's verdict, what it left and the user's line that most of it is
from against tests/golden/verdicts.txt, which is the same for every processor. What is otherwise on Windows stands in
tests/windows/verdicts/differences.txt, each line with its reason.

Usage: verdicts.py --leakgate PATH --fixtures FOLDER [--write | --wine ci/wine --way static|shared|pdb]
"""
import argparse
import difflib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

EXPECTED = pathlib.Path(__file__).resolve().parent / "golden/verdicts.txt"
DIFFERENCES = EXPECTED.parent.parent / "windows/verdicts/differences.txt"
SUITES = ("kinds", "places", "fates", "statics")


def place_of(window: dict) -> str:
    """The user's line that most of what counts is from, whether it is lost, or retained and growing: a word that
    happens to hold a lost block's address makes the one the other, and no other verdict."""
    counted = [finding for finding in window["findings"] if finding["disposition"] in ("outstanding", "steady")]
    for finding in sorted(counted, key=lambda finding: -finding["bytes"]):
        if finding["user_frame"] is not None:
            frame = finding["stack"][finding["user_frame"]]
            return f"{pathlib.Path(frame['file']).name}:{frame['line']}"
    return "-"


def expected_on_windows(way: str) -> tuple[list[str], list[str]]:
    """What is expected of fixtures that were built in this way, and the tests that are left out. A difference is a line
    `WAY...: LINE`, or `WAY...: TEST: left out`. A line may end with two places and an "or" between."""
    expected, left_out = EXPECTED.read_text().splitlines(), []
    for number, text in enumerate(DIFFERENCES.read_text().splitlines(), 1):
        ways, _, line = text.partition(": ")
        if text.startswith("#") or way not in ways.split():
            continue
        test, _, verdict = line.partition(": ")
        places = [i for i, known in enumerate(expected) if known.startswith(f"{test}: ")]
        if len(places) != 1 or expected[places[0]] == line:
            sys.exit(f"verdicts: {DIFFERENCES}:{number}: no difference from {EXPECTED.name}")
        if verdict == "left out":
            left_out.append(test)
        expected[places[0]:places[0] + 1] = [line] if verdict != "left out" else []
    return expected, left_out


def alternatives_of(line: str) -> list[str]:
    text, _, last = line.rpartition(" or ")
    return [text, f"{text.rpartition(' ')[0]} {last}"]


def verdicts_of(leakgate: list[str], program: pathlib.Path, arguments: list[str]) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        done = subprocess.run([*leakgate, "run", "--confirm-wait", "0.05", "--report", f"json={report}", "--",
                               str(program), *arguments], cwd=folder,
                              capture_output=True, text=True, errors="replace", check=False)
        if not report.exists():
            sys.exit(f"verdicts: {program}: no report, exit code {done.returncode}: {done.stderr[-2000:]}")
        windows = json.loads(report.read_text())["windows"]
    return [f"{window['name']}: {window['verdict']}, {window['outstanding']['blocks']} blocks, "
            f"{window['outstanding']['bytes']} B, {place_of(window)}" for window in windows if window["kind"] == "test"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--leakgate", required=True)
    parser.add_argument("--fixtures", required=True, type=pathlib.Path)
    parser.add_argument("--write", action="store_true", help="write the golden file instead")
    parser.add_argument("--wine", help="with it, leakgate and the fixtures are programs for Windows")
    parser.add_argument("--way", help="how those were built")
    options = parser.parse_args()
    leakgate = [os.path.abspath(program) for program in (options.wine, options.leakgate) if program]
    expected, left_out = expected_on_windows(options.way) if options.wine else (EXPECTED.read_text().splitlines(), [])
    arguments = ["--gtest_filter=-" + ":".join(left_out)] if left_out else []
    modes = {options.way: f"{options.way}.exe"} if options.wine else {"untouched": "untouched", "listener": "listener"}
    found = {mode: [line for suite in SUITES for line in (f"# {suite}", *verdicts_of(
        leakgate, options.fixtures.absolute() / f"{suite}_{end}", arguments))] for mode, end in modes.items()}
    if options.write:
        expected = found["untouched"]
        EXPECTED.write_text("\n".join(expected) + "\n")
    either = {line: whole for whole in expected if " or " in whole for line in alternatives_of(whole)}
    wrong = 0
    for mode, lines in found.items():
        lines = [either.get(line, line) for line in lines]
        differences = list(difflib.unified_diff(expected, lines, "expected", mode, lineterm=""))
        print("\n".join(differences) or f"verdicts: {len(lines) - len(SUITES)} tests as expected, {mode}")
        wrong += bool(differences)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
