#!/usr/bin/env python3
"""Finds the leaks of a real suite with LeakSanitizer and valgrind, for leakgate to be held to.

Both look once, at the process's end, and tell nothing of tests: so each test that may leak runs
alone. LeakSanitizer is preloaded, which needs no other build; it runs each test alone. valgrind is
slow: it runs each binary whole, and then alone the tests of those binaries in which it found any.
What they find is committed as references/SUITE.json; only this script writes it.

Usage: reference.py SUITE...
"""
import argparse
import concurrent.futures
import dataclasses
import json
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree

from running import list_tests, run_in, scratch_folder
from suites import HERE, SUITES, Suite

FOLDER = HERE / "references"


@dataclasses.dataclass(frozen=True, order=True)
class Frame:
    function: str
    file: str
    line: int


@dataclasses.dataclass(frozen=True, order=True)
class Leak:
    binary: str
    test: str
    tool: str
    kind: str  # direct or indirect, as the tool has it
    function: str
    file: str
    line: int


def lsan_library() -> str:
    """GCC's LeakSanitizer, what -fsanitize=leak links."""
    return subprocess.run(["gcc", "-print-file-name=liblsan.so"], capture_output=True, text=True,
                          check=True).stdout.strip()


def site_of(suite: Suite, frames: list[Frame]) -> Frame:
    """The innermost frame of the suite's own files."""
    own = [frame for frame in frames if pathlib.Path(frame.file).is_relative_to(suite.source)]
    return own[0] if own else Frame("", "", 0)


def leaks_of_lsan(text: str) -> list[tuple[str, list[Frame]]]:
    leaks: list[tuple[str, list[Frame]]] = []
    for line in text.splitlines():
        if start := re.match(r"(Direct|Indirect) leak of \d+ byte", line):
            leaks.append((start[1].lower(), []))
        elif leaks and (frame := re.match(r"    #\d+ 0x[0-9a-f]+ in (.*) (\S+?):(\d+)(:\d+)?$", line)):
            leaks[-1][1].append(Frame(frame[1], frame[2], int(frame[3])))
    return leaks


def run_lsan(suite: Suite, binary: str, arguments: list[str]) -> list[tuple[str, list[Frame]]]:
    with scratch_folder() as scratch:
        log = pathlib.Path(scratch) / "lsan"
        done = run_in(suite, scratch, [*suite.command(binary), *arguments], LD_PRELOAD=lsan_library(),
                      LSAN_OPTIONS=f"fast_unwind_on_malloc=0:malloc_context_size=100:log_path={log}")
        # Only of the process itself: a death test's child frees nothing.
        own = pathlib.Path(f"{log}.{done.pid}")
        return leaks_of_lsan(own.read_text(errors="replace")) if own.exists() else []


def leaks_of_valgrind(path: pathlib.Path) -> list[tuple[str, list[Frame]]]:
    try:
        errors = xml.etree.ElementTree.parse(path).getroot().findall("error")
    except xml.etree.ElementTree.ParseError:  # a process that died, such as a death test's child
        return []
    kinds = {"Leak_DefinitelyLost": "direct", "Leak_IndirectlyLost": "indirect"}
    return [(kinds[error.findtext("kind")],
             [Frame(frame.findtext("fn", ""), f"{frame.findtext('dir', '')}/{frame.findtext('file', '')}",
                    int(frame.findtext("line", "0"))) for frame in error.find("stack").findall("frame")])
            for error in errors if error.findtext("kind") in kinds]


def run_valgrind(suite: Suite, binary: str, arguments: list[str]) -> list[tuple[str, list[Frame]]]:
    with scratch_folder() as scratch:
        command = ["valgrind", "-q", "--leak-check=full", "--num-callers=100", "--xml=yes",
                   f"--xml-file={scratch}/valgrind.%p", *suite.command(binary), *arguments]
        try:
            done = run_in(suite, scratch, command)
        except subprocess.TimeoutExpired:
            print(f"reference: {binary} {' '.join(arguments)}: too slow under valgrind", flush=True)
            return []
        return leaks_of_valgrind(pathlib.Path(scratch) / f"valgrind.{done.pid}")


def named(suite: Suite, binary: str, test: str, tool: str, found: list[tuple[str, list[Frame]]]) -> set[Leak]:
    leaks = set()
    for kind, frames in found:
        site = site_of(suite, frames)
        file = str(pathlib.Path(site.file).relative_to(suite.source)) if site.file else ""
        leaks.add(Leak(binary, test, tool, kind, site.function, file, site.line))
    return leaks


def leaks_of_test(suite: Suite, binary: str, test: str, tool: str) -> set[Leak]:
    run = {"LeakSanitizer": run_lsan, "valgrind": run_valgrind}[tool]
    # What leaks when no test runs belongs to none.
    return named(suite, binary, test, tool, run(suite, binary, [f"--gtest_filter={test}"]))


def leaks_of_binary(suite: Suite, binary: str, pool: concurrent.futures.Executor) -> set[Leak]:
    tests = list_tests(suite, binary)
    tools = ["LeakSanitizer"] + (["valgrind"] if run_valgrind(suite, binary, []) else [])
    found: set[Leak] = set()
    for tool in tools:
        outside = {dataclasses.replace(leak, test="") for leak in leaks_of_test(suite, binary, "", tool)}
        for leaks in pool.map(lambda test: leaks_of_test(suite, binary, test, tool), tests):
            found |= {leak for leak in leaks if dataclasses.replace(leak, test="") not in outside}
    print(f"reference: {binary}: {len(tests)} tests, {len(found)} leaks by {', '.join(tools)}", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("suites", nargs="+", choices=SUITES)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    FOLDER.mkdir(exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(max_workers=options.jobs) as pool:
        for name in options.suites:
            suite = SUITES[name]
            leaks = sorted(leak for binary in suite.binaries for leak in leaks_of_binary(suite, binary, pool))
            (FOLDER / f"{name}.json").write_text(json.dumps([dataclasses.asdict(leak) for leak in leaks], indent=1) + "\n")
            print(f"reference: {name}: {len(leaks)} leaks in {len({leak.test for leak in leaks})} tests")


if __name__ == "__main__":
    sys.exit(main())
