"""Real suites as tests/real builds them, and here once for each flavour that is more than linked differently."""
import pathlib
import sys

from .building import run
from .paths import BENCH, OUTPUT
from .tools import PLAIN, Tool
from .workloads import Workload

sys.path.insert(0, str(BENCH.parent / "real"))
import build as real_build  # noqa: E402
import suites as real  # noqa: E402
from running import names_listed, scratch_folder  # noqa: E402, F401: for those who run suites

ALL = real.SUITES
SUITES = {name: ALL[name] for name in ("snappy", "leveldb", "yaml-cpp", "fmtlib", "re2", "googletest")}

# The flavours that tests/real links of the same objects, and what it calls them.
LINKED = {PLAIN: "untouched", "lsan": "lsan"}


def suites_of(workload: Workload) -> list[real.Suite]:
    return [ALL[name] for name in workload.suites]


def folder(suite: real.Suite, tool: Tool) -> pathlib.Path:
    return OUTPUT / "suites" / tool.flavour / suite.name


def build(workload: Workload, tool: Tool) -> None:
    for suite in suites_of(workload):
        if tool.flavour in LINKED:
            real_build.build_suite(suite)
            real_build.build_targets(suite, [pathlib.Path(command(suite, binary, tool)[0]).name
                                             for binary in suite.binaries])
        else:
            build_flavour(suite, tool)


def build_flavour(suite: real.Suite, tool: Tool) -> None:
    build = folder(suite, tool)
    if (build / "built").exists():
        return
    real.ROOT.mkdir(parents=True, exist_ok=True)
    real_build.fetch(suite)
    flags = " ".join(tool.flags)
    run(*real_build.configure_command(suite, build), f"-DCMAKE_C_FLAGS={flags}", f"-DCMAKE_CXX_FLAGS={flags}")
    run("cmake", "--build", build, "--target", *suite.binaries)
    (build / "built").touch()


def command(suite: real.Suite, binary: str, tool: Tool) -> list[str]:
    if tool.flavour in LINKED:
        return suite.command(binary, LINKED[tool.flavour])
    return [str(folder(suite, tool) / binary), *suite.arguments]
