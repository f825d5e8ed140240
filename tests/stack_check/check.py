#!/usr/bin/env python3
"""Runs programs under the checking agent: every stack that it tells, proved or walked, must be the
one that libunwind finds from the same frame. What differs is a bug, or stands in EXPLAINED.

Usage: check.py --leakgate PATH suite NAME        the real suite, built by tests/real/build.py
       check.py --leakgate PATH programs PROGRAM...
       check.py --leakgate PATH passes PROGRAM [ARGS...]
                                                  the same of one, and its own tests must pass, and leave nothing
       check.py --leakgate PATH detects KIND COUNT PROGRAM [ARGS...]
                                                  exactly COUNT stacks must differ, all by KIND
"""
import argparse
import os
import pathlib
import platform
import subprocess
import sys
import tempfile

from checks import Checks, KINDS, Place, read

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "real"))
from suites import SUITES  # noqa: E402

# Differences that are not leakgate's mistakes: what is so, and why. Whatever differs otherwise fails.
EXPLAINED: dict[Place, str] = {}


def is_explained(place: Place) -> bool:
    """Whether a difference from libunwind's stack is libunwind's own. On aarch64, libunwind 1.6 tells a frame once more
    where it finds no way on: at the end of a stack, and behind a signed return address. And it follows the link
    register where nothing describes the code that a signal has interrupted, such as a call's entry in the procedure
    linkage table, which has no name. Then libgcc's unwinder is the one to agree with."""
    if place in EXPLAINED:
        return True
    is_libunwinds = place.other == place.agreed or place.agreed.function.startswith("0x")
    return platform.machine() == "aarch64" and place.to_libgccs == "none" and is_libunwinds


def run(leakgate: str, command: list[str], folder: str | None = None,
        must_pass: bool = False) -> Checks:
    """The sum over the images of one run."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with (tempfile.TemporaryDirectory(prefix="leakgate-checks-") as found,
          tempfile.TemporaryDirectory(prefix="leakgate-real-", dir=memory) as scratch):
        done = subprocess.run(
            [leakgate, "run", "--confirm=off", "--", *command], cwd=folder or scratch, check=False, text=True,
            errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env={**os.environ, "TEST_TMPDIR": scratch, "LEAKGATE_STACK_CHECKS": found})
        if must_pass and done.returncode != 0:
            sys.exit(f"stack check: {command[0]}: exit code {done.returncode}:\n{done.stdout}")
        checks = Checks()
        for file in sorted(pathlib.Path(found).glob("*.checks")):
            checks.add(read(file))
        for stacks in sorted(pathlib.Path(found).glob("*.stacks")):
            print(f"stacks of {command[0]} that differ:\n{stacks.read_text(errors='replace')}")
        return checks


def problems_of(name: str, checks: Checks) -> list[str]:
    problems = [f"{name}: {count} stacks: {place}"
                for place, count in checks.places.items() if not is_explained(place)]
    if checks.compared == checks.by_libgcc_alone:
        problems.append(f"{name}: no stack was compared with libunwind's")
    if checks.unplaced:
        problems.append(f"{name}: {checks.unplaced} more stacks differ")
    return problems


def check(name: str, leakgate: str, commands: dict[str, list[str]], folder: str | None = None,
          must_pass: bool = False) -> list[str]:
    total = Checks()
    problems = []
    for program, command in commands.items():
        checks = run(leakgate, command, folder, must_pass)
        problems += problems_of(program, checks)
        total.add(checks)
    explained = sum(count for place, count in total.places.items() if is_explained(place))
    ends = ", ".join(f"{count} {end}" for end, count in total.ends.items() if count)
    print(f"stack check: {name}: {total.compared} stacks of {len(commands)} programs compared with "
          f"libunwind's ({total.by_libgcc_alone} with libgcc's, before libunwind was loaded): "
          f"{total.equal} equal with {total.frames} frames ({ends}), {explained} explained, "
          f"{total.compared - total.equal - explained} wrong")
    return problems


def detects(leakgate: str, kind: str, count: int, command: list[str]) -> list[str]:
    checks = run(leakgate, command)
    found = {(place.kind, place.to_libgccs): times for place, times in checks.places.items()}
    print(f"stack check: {checks.compared} stacks compared, {checks.equal} equal, found {found}")
    if found != {(kind, kind): count} or checks.compared != checks.equal + count or not checks.equal:
        return [f"not exactly {count} stacks that differ by {kind}"]
    return []


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--leakgate", required=True)
    parser.add_argument("what", choices=["suite", "programs", "passes", "detects"])
    parser.add_argument("arguments", nargs="+")
    options = parser.parse_args()
    if options.what == "suite":
        suite = SUITES[options.arguments[0]]
        commands = {binary: suite.command(binary) for binary in suite.binaries}
        problems = check(suite.name, options.leakgate, commands,
                         str(suite.source) if suite.runs_in_source else None)
    elif options.what == "programs":
        commands = {pathlib.Path(program).name: [program] for program in options.arguments}
        problems = check("fixtures", options.leakgate, commands)
    elif options.what == "passes":
        program = options.arguments[0]
        problems = check(program, options.leakgate, {program: options.arguments}, must_pass=True)
    else:
        kind, count, *command = options.arguments
        assert kind in KINDS
        problems = detects(options.leakgate, kind, int(count), command)
    for problem in problems:
        print(f"stack check: {problem}")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
