"""Runs workloads under tools, and reads what they print."""
import pathlib
import re
import subprocess
import sys
import time

from . import real_suites
from .building import build_program, program_path
from .paths import SCRATCH
from .tools import Tool, environment_of
from .workloads import Workload

FIGURE = re.compile(r"^bench\.(\w+) ([\d.]+)$", re.MULTILINE)
PATIENCE_S = 1800


class Runner:
    def __init__(self, leakgate_build: pathlib.Path, is_quick: bool):
        self.leakgate_build = leakgate_build
        self.is_quick = is_quick
        SCRATCH.mkdir(parents=True, exist_ok=True)

    def build(self, workload: Workload, tool: Tool) -> None:
        if workload.suite:
            real_suites.build_suite(real_suites.SUITES[workload.suite], tool)
        elif workload.program == "snapshot":
            pass  # built with leakgate; it runs live_blocks, which live-blocks builds
        else:
            build_program(workload, tool)

    def run(self, workload: Workload, tool: Tool) -> dict[str, float]:
        """The figures of one run. None at all if the tool failed."""
        if workload.suite:
            return self.run_suite(workload, tool)
        arguments = workload.arguments_for(tool.slowness, self.is_quick)
        if workload.program == "snapshot":
            program = program_path(LIVE_BLOCKS, tool)
            build_program(LIVE_BLOCKS, tool)
            snapshot = self.leakgate_build / "bin" / "leakgate_bench_snapshot"
            return self.time([str(snapshot), str(program), *arguments], tool)
        return self.time([*tool.before, str(program_path(workload, tool)), *arguments], tool)

    def run_suite(self, workload: Workload, tool: Tool) -> dict[str, float]:
        suite = real_suites.SUITES[workload.suite]
        before = list(tool.before)
        if tool.name == "leakgate" and "report" in workload.arguments:
            before[-1:] = ["--report", f"json={SCRATCH / 'report.json'}", "--"]
        total = {"wall_ms": 0.0}
        for command in real_suites.commands(suite, tool):
            figures = self.time(before + command, tool, real_suites.working_folder(suite, tool))
            if not figures:
                return {}
            total["wall_ms"] += figures["wall_ms"]
        return total

    def time(self, command: list[str], tool: Tool, folder: pathlib.Path = SCRATCH) -> dict[str, float]:
        output = SCRATCH / "output"
        with output.open("w") as stdout, (SCRATCH / "errors").open("w") as stderr:
            begin = time.perf_counter()
            try:
                done = subprocess.run(command, stdout=stdout, stderr=stderr, stdin=subprocess.DEVNULL,
                                      env=environment_of(tool), cwd=folder, check=False,
                                      timeout=PATIENCE_S)
            except subprocess.TimeoutExpired:
                print(f"compare: {' '.join(command)}: took over {PATIENCE_S} s", file=sys.stderr)
                return {}
            wall_ms = (time.perf_counter() - begin) * 1000
        if done.returncode not in (0, *tool.objects):
            print(f"compare: {' '.join(command)}: exit code {done.returncode}: "
                  f"{(SCRATCH / 'errors').read_text()[-300:]}", file=sys.stderr)
            return {}
        found = {name: float(value) for name, value in FIGURE.findall(output.read_text(errors="replace"))}
        return found | {"wall_ms": wall_ms}


LIVE_BLOCKS = Workload(name="live-blocks", program="live_blocks", arguments=(), figures=())
