"""The test binaries and other programs that a workload consists of."""
import dataclasses
import pathlib

from . import real_suites
from .building import build_program, program_path
from .tools import Tool
from .workloads import Verdict, Workload


@dataclasses.dataclass(frozen=True)
class Program:
    command: list[str]
    folder: pathlib.Path  # where it runs
    scratch: pathlib.Path  # where it may write
    can_be_split: bool = True  # its tests can be run one by one
    may_fail: bool = False  # by itself

    @property
    def name(self) -> str:
        return pathlib.Path(self.command[0]).name


def build(workload: Workload, tool: Tool) -> None:
    if workload.suites:
        real_suites.build(workload, tool)
    else:
        build_program(workload, tool)


def programs_of(workload: Workload, tool: Tool, scratch: pathlib.Path) -> list[Program]:
    if not workload.suites:
        return [Program([str(program_path(workload, tool, binary))], scratch, scratch)
                for binary in range(workload.binaries)]
    return [Program(real_suites.command(suite, binary, tool), suite.working_folder(scratch), scratch,
                    binary not in suite.not_alone, binary in suite.ends_badly)
            for suite in real_suites.suites_of(workload) for binary in suite.binaries]


def is_as_expected(code: int, program: Program, workload: Workload, tool: Tool) -> bool:
    """Whether a run is one to be counted: it neither failed nor was judged wrongly."""
    if code in tool.objects:
        return workload.verdict != Verdict.CLEAN
    can_be_silent = workload.verdict != Verdict.LEAKY or not tool.objects
    return program.may_fail or (code == 0 and can_be_silent)
