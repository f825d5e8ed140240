#!/usr/bin/env python3
"""Times a real suite alone and gated: the median of several runs of each binary, added up.

Usage: measure.py SUITE [RUNS] [--slow] [--leakgate PATH]
"""
import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time

from suites import ROOT, SUITES, Suite


def seconds(command: list[str], suite: Suite) -> float:
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="leakgate-real-", dir=memory) as scratch:
        start = time.monotonic()
        subprocess.run(command, cwd=suite.source if suite.runs_in_source else scratch,
                       env={**os.environ, "TEST_TMPDIR": scratch}, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=False)
        return time.monotonic() - start


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument("runs", type=int, nargs="?", default=5)
    parser.add_argument("--slow", action="store_true")
    parser.add_argument("--leakgate", default=str(ROOT.parent / "release/bin/leakgate"))
    options = parser.parse_args()
    suite = SUITES[options.suite]
    total = {"alone": 0.0, "gated": 0.0}
    print(f"{'binary':24} {'alone':>9} {'gated':>9}")
    for binary in suite.slow if options.slow else suite.binaries:
        alone = suite.command(binary)
        gated = [options.leakgate, "run", "--budgets", str(suite.budget), "--", *alone]
        if not suite.budget.exists():
            gated = [options.leakgate, "run", "--", *alone]
        # In turn, so that what else the machine does falls on both alike.
        times = [(seconds(alone, suite), seconds(gated, suite)) for _ in range(options.runs)]
        medians = [statistics.median(column) for column in zip(*times)]
        print(f"{binary:24} {medians[0]:7.3f} s {medians[1]:7.3f} s", flush=True)
        total["alone"] += medians[0]
        total["gated"] += medians[1]
    print(json.dumps({"suite": suite.name, "runs": options.runs, **total}))


if __name__ == "__main__":
    main()
