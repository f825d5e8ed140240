#!/usr/bin/env python3
"""Gates real suites in every mode, holds each verdict to what is known, and writes the tables of
docs/accuracy.md.

A difference from expected.json, or a leak of references/ that is missed, is printed, and the exit
code is 1. Suites that are not asked for keep their rows; without any, all are.

Usage: accuracy.py [SUITE...] [--mode MODE]... [--no-write] [--leakgate PATH]
       accuracy.py --shuffled RUNS SUITE...    the verdicts are the same in every order
       accuracy.py --check                     the document is up to date; runs nothing
"""
import argparse
import dataclasses
import sys

from build import build_suite
from expectations import FALSE_ALARM, REAL_LEAK, differences, expected_of, missed, reference_leaks
from gate import gate
from outcome import MODES, Outcome, gate_whole
from plant import FOLDER as PLANTS, plants_of
from running import LEAKGATE
from suites import HERE, SUITES, Suite

DOCUMENT = HERE.parent.parent / "docs/accuracy.md"
HEADER = ("| suite | mode | binaries | tests | candidates | pass | unconfirmed | over budget | real leaks | "
          "false alarms | reference leaks found |\n|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")


def judged(suite: Suite, outcome: Outcome, judgement: str) -> int:
    known = {(entry["binary"], entry["test"]) for entry in expected_of(suite) if entry["judged"] == judgement}
    return sum(test.key in known for test in outcome.over_budget)


def row(suite: Suite, mode: str, outcome: Outcome) -> str:
    leaks = reference_leaks(suite)
    left_out = len(suite.not_alone) if mode == "ctest" else 0
    cells = (suite.name, mode, len(suite.binaries) - left_out, len(outcome.tests), outcome.candidates, outcome.count("pass"),
             outcome.count("unconfirmed"), len(outcome.over_budget), judged(suite, outcome, REAL_LEAK), judged(suite, outcome, FALSE_ALARM),
             f"{len(leaks) - len(missed(suite, outcome))} of {len(leaks)}")
    return f"| {' | '.join(str(cell) for cell in cells)} |"


def between(text: str, name: str) -> tuple[str, str, str]:
    """What stands before, between and after the two markers."""
    start, end = f"<!-- {name}: written by tests/real/accuracy.py -->\n", f"<!-- end of {name} -->"
    before, _, rest = text.partition(start)
    inside, found, after = rest.partition(end)
    if not found:
        sys.exit(f"accuracy: {DOCUMENT} has no place for its {name}")
    return before + start, inside, end + after


def merged(old: str, rows: dict[tuple[str, str], str]) -> str:
    """The table with `rows` in it, and of suites that were not run the rows it had."""
    kept = {tuple(line.strip("| ").split(" | ")[:2]): line for line in old.splitlines()[2:]}
    order = [(suite, mode) for suite in SUITES for mode in MODES]
    lines = [{**kept, **rows}[key] for key in order if key in {**kept, **rows}]
    return "\n".join((HEADER, *lines)) + "\n"


def verdicts() -> str:
    lines = ["| suite | test | allocated at | judged | why |", "|---|---|---|---|---|"]
    lines += [f"| {suite.name} | `{entry['test']}` | `{entry['site']}` | {entry['judged']} | {entry['why']} |"
              for suite in SUITES.values() for entry in expected_of(suite)]
    return "\n".join(lines) + "\n"


def planted() -> str:
    lines = ["| suite | test | planted |", "|---|---|---|"]
    lines += [f"| {plant.suite} | `{plant.test}` | {plant.name.replace('_', ' ')} |"
              for path in sorted(PLANTS.glob("*.plants")) for plant in plants_of(path.stem)]
    return "\n".join(lines) + "\n"


def document(rows: dict[tuple[str, str], str]) -> str:
    text = DOCUMENT.read_text()
    for name, content in (("table", lambda old: merged(old, rows)), ("verdicts", lambda _: verdicts()),
                          ("plants", lambda _: planted())):
        before, old, after = between(text, name)
        text = before + content(old) + after
    return text


def gate_all(suites: list[Suite], modes: list[str], leakgate: str) -> tuple[dict[tuple[str, str], str], bool]:
    rows, failed = {}, False
    for suite in suites:
        build_suite(suite)
        for mode in modes:
            outcome = gate(suite, mode, leakgate)
            rows[suite.name, mode] = row(suite, mode, outcome)
            print(rows[suite.name, mode], flush=True)
            for problem in differences(suite, outcome):
                failed = True
                print(f"accuracy: {suite.name} ({mode}): {problem}", flush=True)
    return rows, failed


def shuffle(suite: Suite, runs: int, leakgate: str) -> bool:
    """Whether each of so many orders leaves the verdicts as they are known."""
    build_suite(suite)
    # Some tests need what earlier ones left, and fail in another order, gated or not.
    suite = dataclasses.replace(suite, ends_badly=suite.binaries)
    different = 0
    for seed in range(1, runs + 1):
        outcome = gate_whole(suite, "untouched", leakgate, ["--gtest_shuffle", f"--gtest_random_seed={seed}"])
        problems = differences(suite, outcome)
        different += bool(problems)
        print(*(f"accuracy: {suite.name} (seed {seed}): {problem}" for problem in problems), sep="\n",
              end="\n" if problems else "", flush=True)
    print(f"accuracy: {suite.name}: {runs - different} of {runs} shuffled runs with the known verdicts", flush=True)
    return different == 0


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("suites", nargs="*", choices=[[], *SUITES], metavar="SUITE")
    parser.add_argument("--mode", action="append", choices=MODES, dest="modes")
    parser.add_argument("--shuffled", type=int, metavar="RUNS")
    parser.add_argument("--no-write", action="store_true")
    parser.add_argument("--check", action="store_true", help="that the document says what the files here say")
    parser.add_argument("--leakgate", default=LEAKGATE)
    options = parser.parse_args()
    suites = [SUITES[name] for name in options.suites or SUITES]
    if options.check:
        sys.exit(0 if document({}) == DOCUMENT.read_text() else f"accuracy: {DOCUMENT} is not up to date")
    if options.shuffled:
        sys.exit(not all([shuffle(suite, options.shuffled, options.leakgate) for suite in suites]))
    rows, failed = gate_all(suites, options.modes or list(MODES), options.leakgate)
    if not options.no_write:
        DOCUMENT.write_text(document(rows))
    sys.exit(failed)


if __name__ == "__main__":
    main()
