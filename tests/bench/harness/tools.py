"""The tools: how each wants a program built and run."""
import dataclasses
import os
import pathlib
import shutil

from .paths import SCRATCH

PLAIN = "plain"  # built as it would be without any tool


@dataclasses.dataclass(frozen=True)
class Tool:
    name: str
    title: str
    flavour: str = PLAIN  # which build of a program it runs
    flags: tuple[str, ...] = ()  # of that build's compiler and linker
    before: tuple[str, ...] = ()  # the command line, up to the program
    environment: tuple[tuple[str, str], ...] = ()
    needs: str = ""  # a command or file without which it is left out
    slowness: int = 1  # fixed workloads are cut by this much
    objects: tuple[int, ...] = ()  # exit codes that say it found something, not that it failed
    is_by_request: bool = False  # only with --tools

    def is_available(self) -> bool:
        return not self.needs or pathlib.Path(self.needs).exists() or bool(shutil.which(self.needs))


NATIVE = Tool("native", "native")
TCMALLOC = "/usr/lib/x86_64-linux-gnu/libtcmalloc.so"


# What a session may take stacks of: as ever; of nothing that the workloads do; of frees, too.
SESSIONS = ("alloc,realloc", "realloc", "alloc,realloc,free")


def in_session(leakgate: str, events: str) -> Tool:
    script = pathlib.Path(__file__).resolve().parent.parent / "in_session"
    return Tool("session-" + events.replace(",", "-"), f"a session, stacks of {events}",
                before=(str(script), leakgate, events), is_by_request=True)


def all_tools(leakgate_build: pathlib.Path) -> list[Tool]:
    """Native first: the others are held against it."""
    leakgate = str(leakgate_build / "bin" / "leakgate")
    agent = str(leakgate_build / "lib" / "libleakgate_agent.so")
    return [
        NATIVE,
        Tool("leakgate", "leakgate", before=(leakgate, "run", "--"), objects=(1,)),
        Tool("off", "leakgate's agent, not enabled", environment=(("LD_PRELOAD", agent),)),
        *(in_session(leakgate, events) for events in SESSIONS),
        Tool("recorded", "leakgate record",
             before=(leakgate, "record", "--quiet", "--force", "-o", str(SCRATCH / "recording"), "--"),
             is_by_request=True),
        Tool("lsan", "LeakSanitizer", "lsan", ("-fsanitize=leak",), objects=(23,)),
        Tool("lsan-full", "LeakSanitizer, full stacks", "lsan", ("-fsanitize=leak",),
             environment=(("LSAN_OPTIONS", "fast_unwind_on_malloc=0"),), slowness=10,
             objects=(23,)),
        Tool("asan", "AddressSanitizer", "asan", ("-fsanitize=address",), objects=(23,)),
        Tool("heaptrack", "heaptrack",
             before=("heaptrack", "--output", str(SCRATCH / "heaptrack")),
             needs="heaptrack", slowness=5),
        Tool("valgrind", "valgrind", before=("valgrind", "--quiet", "--leak-check=full"),
             needs="valgrind", slowness=20),
        Tool("gperftools", "gperftools",
             environment=(("HEAPCHECK", "normal"), ("LD_PRELOAD", TCMALLOC)),
             needs=TCMALLOC, slowness=100, objects=(1,)),
    ]


def environment_of(tool: Tool) -> dict[str, str]:
    """This process's, without what would change a tool, and what the tool needs."""
    options = ("LD_PRELOAD", "LSAN_OPTIONS", "ASAN_OPTIONS", "HEAPCHECK")
    inherited = {name: value for name, value in os.environ.items()
                 if name not in options and not name.startswith("GTEST_")}
    return inherited | dict(tool.environment)
