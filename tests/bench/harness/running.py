"""Runs workloads under tools, and reads what they print."""
import dataclasses
import os
import pathlib
import re
import select
import shutil
import subprocess
import sys
import time

from .paths import SCRATCH
from .programs import Program, build, is_as_expected, programs_of
from .real_suites import names_listed, scratch_folder
from .tools import NATIVE, Tool, environment_of
from .workloads import BASELINE, Workload

FIGURE = re.compile(r"^bench\.(\w+) ([\d.]+)$", re.MULTILINE)
PATIENCE_S = 1800
LOOK_AT_MEMORY_S = 0.02
QUICK_BINARIES, QUICK_TESTS = 3, 3
OUTPUT, ERRORS = SCRATCH / "output", SCRATCH / "errors"
CACHE = SCRATCH / "cache"


class Runner:
    def __init__(self, leakgate_build: pathlib.Path, is_quick: bool):
        self.leakgate_build = leakgate_build
        self.is_quick = is_quick
        self.samples: dict[str, list[tuple[int, str, str]]] = {}  # by workload: see sample
        SCRATCH.mkdir(parents=True, exist_ok=True)

    def build(self, workload: Workload, tool: Tool) -> None:
        if workload.program == "snapshot":
            return  # built with leakgate; it runs live_blocks, which live-blocks builds
        build(workload, tool)
        if workload.baseline_of and tool.name == "leakgate":
            self.write_baseline(workload.baseline_of)

    def write_baseline(self, leaks: Workload) -> None:
        """A report of all that `leaks` loses, where the option --baseline has it."""
        build(leaks, NATIVE)
        leakgate = str(self.leakgate_build / "bin" / "leakgate")
        programs = programs_of(leaks, NATIVE, SCRATCH)
        reports = [str(SCRATCH / f"{program.name}.json") for program in programs]
        for program, report in zip(programs, reports):
            subprocess.run([leakgate, "run", "--warn-only", "--report", f"json={report}", "--", *program.command],
                           capture_output=True, check=True)
        subprocess.run([leakgate, "merge", *reports, "-o", str(BASELINE)], capture_output=True, check=True)

    def run(self, workload: Workload, tool: Tool) -> dict[str, float]:
        """The figures of one run. None at all if the tool failed."""
        shutil.rmtree(CACHE, ignore_errors=True)
        CACHE.mkdir(mode=0o700)
        if workload.is_next_run and tool.name == "leakgate":
            self.run_with_cache(workload, tool)
        return self.run_with_cache(workload, tool)

    def run_with_cache(self, workload: Workload, tool: Tool) -> dict[str, float]:
        if workload.program == "snapshot":
            return self.run_snapshot(workload, tool)
        with scratch_folder() as scratch:
            programs = programs_of(workload, tool, pathlib.Path(scratch))
            if workload.one_by_one:
                return self.run_tests(workload, tool, programs)
            return self.run_whole(workload, tool, programs[:QUICK_BINARIES] if self.is_quick else programs)

    def run_snapshot(self, workload: Workload, tool: Tool) -> dict[str, float]:
        build(LIVE_BLOCKS, tool)
        [blocks] = programs_of(LIVE_BLOCKS, tool, SCRATCH)
        snapshot = str(self.leakgate_build / "bin" / "leakgate_bench_snapshot")
        program = dataclasses.replace(blocks, command=[snapshot, *blocks.command])
        return self.time(program, workload.arguments_for(tool.slowness, self.is_quick), workload, tool)

    def run_whole(self, workload: Workload, tool: Tool, programs: list[Program]) -> dict[str, float]:
        total: dict[str, float] = {}
        for program in programs:
            figures = self.time(program, workload.arguments_for(tool.slowness, self.is_quick), workload, tool)
            if not figures:
                return {}
            total = {name: total.get(name, 0.0) + value for name, value in figures.items()}
        return total

    def run_tests(self, workload: Workload, tool: Tool, programs: list[Program]) -> dict[str, float]:
        """The wall time of each test of the sample that did not fail."""
        if workload.name not in self.samples:
            self.samples[workload.name] = self.sample(workload, programs[0].scratch)
        found = {}
        for binary, test, full_name in self.samples[workload.name]:
            figures = self.time(programs[binary], (f"--gtest_filter={test}",), workload, tool)
            if figures:
                found[full_name] = figures["wall_ms"]
        return found

    def sample(self, workload: Workload, scratch: pathlib.Path) -> list[tuple[int, str, str]]:
        """Spread evenly over all tests: the number of the binary, the test's name, and both names."""
        tests = []
        for binary, program in enumerate(programs_of(workload, NATIVE, scratch)):
            if program.can_be_split:
                launch([*program.command, "--gtest_list_tests"], program, NATIVE)
                tests += [(binary, test, f"{program.name} {test}")
                          for test in names_listed(OUTPUT.read_text(errors="replace"))]
        count = min(QUICK_TESTS if self.is_quick else workload.one_by_one, len(tests))
        return [tests[number * len(tests) // count] for number in range(count)]

    def time(self, program: Program, arguments: tuple[str, ...], workload: Workload, tool: Tool) -> dict[str, float]:
        before = [*tool.before[:-1], *workload.options, "--"] if tool.name == "leakgate" else tool.before
        command = [*before, *program.command, *arguments]
        code, figures = launch(command, program, tool)
        if code is None or not is_as_expected(code, program, workload, tool):
            reason = f"took over {PATIENCE_S} s" if code is None else f"exit code {code}"
            errors = ERRORS.read_text(errors="replace")[-300:]
            print(f"compare: {' '.join(command)}: {reason}: {errors}", file=sys.stderr)
            return {}
        found = {name: float(value) for name, value in FIGURE.findall(OUTPUT.read_text(errors="replace"))}
        return found | figures


def launch(command: list[str], program: Program, tool: Tool) -> tuple[int | None, dict[str, float]]:
    """The exit code, None if it took too long; and what was measured from outside."""
    environment = environment_of(tool) | {
        "TEST_TMPDIR": str(program.scratch), "XDG_CACHE_HOME": str(CACHE)}
    with OUTPUT.open("w") as stdout, ERRORS.open("w") as stderr:
        begin = time.perf_counter()
        with subprocess.Popen(command, stdout=stdout, stderr=stderr, stdin=subprocess.DEVNULL, env=environment,
                              cwd=program.folder) as process:
            peak_kib = watch(process.pid, begin + PATIENCE_S)
            wall_ms = (time.perf_counter() - begin) * 1000
            if wall_ms >= PATIENCE_S * 1000:
                process.kill()
                return None, {}
    return process.returncode, {"wall_ms": wall_ms, "peak_mib": peak_kib / 1024}


def watch(pid: int, deadline: float) -> int:
    """Waits for the end of a process, and returns the most memory that it had at once, in KiB.

    Processes that end within some milliseconds are not looked at.
    """
    peak_kib = 0
    end = os.pidfd_open(pid)  # a wait with a timeout would be Python's own, which sleeps up to 50 ms too long
    while time.perf_counter() < deadline and not select.select([end], [], [], LOOK_AT_MEMORY_S)[0]:
        found = re.search(r"^VmHWM:\s+(\d+) kB", pathlib.Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
        peak_kib = int(found[1]) if found else peak_kib
    os.close(end)
    return peak_kib


LIVE_BLOCKS = Workload(name="live-blocks", program="live_blocks", arguments=(), figures=())
