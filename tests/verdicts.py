#!/usr/bin/env python3
"""Gates fixtures in both modes and holds each test's verdict, what it left and the user's line that most of it is
from against tests/golden/verdicts.txt, which is the same for every processor.

Usage: verdicts.py --leakgate PATH --fixtures FOLDER [--write]
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


def verdicts_of(leakgate: str, program: pathlib.Path) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        done = subprocess.run([leakgate, "run", "--confirm-wait", "0.05", "--report", f"json={report}", "--",
                               str(program)], cwd=folder,
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
    options = parser.parse_args()
    found = {mode: [line for suite in SUITES for line in (f"# {suite}", *verdicts_of(
        os.path.abspath(options.leakgate), options.fixtures.absolute() / f"{suite}_{mode}"))] for mode in ("untouched", "listener")}
    if options.write:
        EXPECTED.write_text("\n".join(found["untouched"]) + "\n")
    expected = EXPECTED.read_text().splitlines()
    wrong = 0
    for mode, lines in found.items():
        differences = list(difflib.unified_diff(expected, lines, "expected", mode, lineterm=""))
        print("\n".join(differences) or f"verdicts: {len(lines) - len(SUITES)} tests as expected, {mode}")
        wrong += bool(differences)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
