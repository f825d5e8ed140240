"""Real suites, fetched by tests/real, built here once for each flavour."""
import pathlib
import sys

from .building import run
from .paths import BENCH, OUTPUT
from .tools import PLAIN, Tool

sys.path.insert(0, str(BENCH.parent / "real"))
import build as real_build  # noqa: E402
import suites as real  # noqa: E402

YAML_CPP = real.Suite(
    name="yaml-cpp", package="yaml-cpp", options=("-DYAML_CPP_BUILD_TOOLS=OFF", "-DYAML_BUILD_SHARED_LIBS=OFF"),
    binaries=("test/yaml-cpp-tests",), tests=1)

SUITES = {suite.name: suite for suite in (real.SUITES["snappy"], real.SUITES["leveldb"], YAML_CPP)}


def folder(suite: real.Suite, tool: Tool) -> pathlib.Path:
    return OUTPUT / "suites" / tool.flavour / suite.name


def build_suite(suite: real.Suite, tool: Tool) -> None:
    build = folder(suite, tool)
    if (build / "built").exists():
        return
    real.ROOT.mkdir(parents=True, exist_ok=True)
    real_build.fetch(suite)
    flags = " ".join(() if tool.flavour == PLAIN else tool.flags)
    run("cmake", "-G", "Ninja", "-S", suite.source, "-B", build, "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
        "-DCMAKE_C_COMPILER=clang", "-DCMAKE_CXX_COMPILER=clang++", f"-DCMAKE_C_FLAGS={flags}",
        f"-DCMAKE_CXX_FLAGS={flags}", *suite.options)
    run("cmake", "--build", build, "--target", *(pathlib.Path(name).name for name in suite.binaries))
    (build / "built").touch()


def commands(suite: real.Suite, tool: Tool) -> list[list[str]]:
    """How each of its test binaries is started."""
    return [[str(folder(suite, tool) / name)] for name in suite.binaries]


def working_folder(suite: real.Suite, tool: Tool) -> pathlib.Path:
    return suite.source if suite.runs_in_source else folder(suite, tool)
