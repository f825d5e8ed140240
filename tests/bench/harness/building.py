"""Builds workloads in the flavours that the tools need: one compiler, one set
of flags, and no frame pointers."""
import pathlib
import subprocess
import sys

from .paths import BENCH, CHECKOUT, OUTPUT
from .tools import PLAIN, Tool
from .workloads import Workload

FLAGS = ("-std=c++20", "-O2", "-g", "-fomit-frame-pointer", "-pthread")


def run(*command: object) -> None:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"compare: {' '.join(map(str, command))} failed:\n{(done.stdout + done.stderr)[-4000:]}")


def build_leakgate(build: pathlib.Path) -> None:
    run("cmake", "-S", CHECKOUT, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
        "-DLEAKGATE_BUILD_TESTS=ON", "-DLEAKGATE_BUILD_NIGHTLY=ON")
    run("cmake", "--build", build, "--target", "leakgate", "leakgate_agent", "leakgate_bench_snapshot")


def program_path(workload: Workload, tool: Tool, binary: int = 0) -> pathlib.Path:
    suffix = "".join("_" + define.split("=")[1] for define in workload.defines)
    if workload.binaries > 1:
        suffix += f"_{binary}"
    if workload.with_listener and tool.name == "leakgate":
        suffix += "_listener"
    return OUTPUT / tool.flavour / (workload.program + suffix)


def source_of(workload: Workload, binary: int) -> pathlib.Path:
    """Its file, or what the script of that name prints."""
    script = BENCH / "workloads" / f"{workload.program}.py"
    if not script.exists():
        return script.with_suffix(".cpp")
    source = OUTPUT / "sources" / f"{workload.program}_{binary}.cpp"
    if not is_fresh(source, [script]):
        source.parent.mkdir(parents=True, exist_ok=True)
        with source.open("w") as output:
            subprocess.run([sys.executable, script, str(binary)], stdout=output, check=True)
    return source


def is_fresh(program: pathlib.Path, sources: list[pathlib.Path]) -> bool:
    built = program.stat().st_mtime if program.exists() else 0.0
    return built > max(source.stat().st_mtime for source in sources)


def build_program(workload: Workload, tool: Tool) -> None:
    for binary in range(workload.binaries):
        build_binary(workload, tool, binary)


def build_binary(workload: Workload, tool: Tool, binary: int) -> None:
    program = program_path(workload, tool, binary)
    sources = [source_of(workload, binary)]
    if is_fresh(program, sources + list((BENCH / "workloads").glob("*.h"))):
        return
    program.parent.mkdir(parents=True, exist_ok=True)
    options = [f"-I{BENCH / 'workloads'}", *(f"-D{define}" for define in workload.defines)]
    libraries = []
    if program.name.endswith("_listener"):
        sources.append(CHECKOUT / "plugin" / "listener" / "gtest_main.cpp")
        sources.append(CHECKOUT / "plugin" / "listener" / "listener.cpp")
        options.append(f"-I{CHECKOUT / 'plugin' / 'include'}")
        libraries = ["-lgtest"]
    elif workload.links_gtest:
        libraries = ["-lgtest", "-lgtest_main"]
    flags = () if tool.flavour == PLAIN else tool.flags
    run("clang++", *FLAGS, *flags, *options, *sources, *libraries, "-o", program)
