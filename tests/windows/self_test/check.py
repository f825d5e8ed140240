#!/usr/bin/env python3
"""`leakgate doctor --self-test` under Wine: what it says where all holds, and where something is amiss.

  check.py BUILD

BUILD is a build tree. Each case has a copy of its programs, in which something is damaged; the row that must notice it says
"no", and the exit code is 3.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAMS = "lib/leakgate/self_test"
ROWS_OF_AGENT = ["first library", "later libraries", "functions", "small blocks", "stacks", "lines", "reach", "memory",
                 "mappings", "events"]


def copy(build: pathlib.Path, folder: pathlib.Path) -> None:
    (folder / "bin").mkdir()
    shutil.copytree(build / PROGRAMS, folder / PROGRAMS)
    for name in ("leakgate.exe", "leakgate_agent64.dll"):
        shutil.copy(build / "bin" / name, folder / "bin")


def lose(name: str):
    return lambda folder: (folder / PROGRAMS / name).unlink()


def quiet_library(folder: pathlib.Path) -> None:
    """A library without the blocks that its name promises: the program's other one, by another name, is as good as any."""
    source = folder / "quiet.c"
    source.write_text('__declspec(dllexport) void leakgate_self_test_leave(void) {}\n')
    subprocess.run(["x86_64-w64-mingw32-gcc-posix", "-shared", source, "-o", folder / PROGRAMS / "leakgate_self_test_early.dll"], check=True)


def other_agent(folder: pathlib.Path) -> None:
    """An agent that is loaded, and traces nothing."""
    source = folder / "quiet.c"
    source.write_text('__declspec(dllexport) void *leakgate_agent(unsigned v) { return 0; }\n')
    subprocess.run(["x86_64-w64-mingw32-gcc-posix", "-shared", source, "-o", folder / "bin/leakgate_agent64.dll"], check=True)


def idle_program(folder: pathlib.Path) -> None:
    """A program that maps nothing, and makes no events."""
    source = folder / "quiet.c"
    source.write_text("int main(void) { return 0; }\n")
    subprocess.run(["x86_64-w64-mingw32-gcc-posix", source, "-o", folder / PROGRAMS / "leakgate_self_test.exe"], check=True)


# What is done, the exit code, the rows that say "no", and texts that must be there.
CASES = [
    ("nothing is amiss", lambda folder: None, 0, [],
     ["  ok    held end: by a breakpoint", "  ok    toolkit: ", "  warn  heap tracing: ",
      "  ok    image flags: TracingFlags of the 64-bit registry can be read"]),
    ("no PDB", lose("leakgate_self_test.pdb"), 3, ["lines"], ["its .pdb may be missing"]),
    ("no library to load later", lose("leakgate_self_test_late.dll"), 3, ["later libraries"], ["ends with 0x4"]),
    ("a library that allocates nothing", quiet_library, 3, ["first library", "later libraries"],
     ["0 of 1 libraries' initialisers are seen"]),
    ("a program that does nothing", idle_program, 3, ROWS_OF_AGENT,
     ["VirtualAlloc, reserving, committing later, decommitting, MapViewOfFile of a section", "0 of 100000 blocks are seen"]),
    ("an agent that traces nothing", other_agent, 3, ROWS_OF_AGENT, ["the agent does not trace"]),
    ("no programs", lambda folder: shutil.rmtree(folder / PROGRAMS), 2, [],
     ["there is no such file; unpack leakgate's archive"]),
]


def main() -> int:
    build = pathlib.Path(sys.argv[1])
    failures = 0
    for name, damage, exit_code, rows, has in CASES:
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            copy(build, folder)
            damage(folder)
            done = subprocess.run([ROOT / "ci/wine", folder / "bin/leakgate.exe", "doctor", "--self-test"], capture_output=True,
                                  text=True, errors="replace", check=False)
        said = done.stdout + done.stderr
        wrong = re.findall(r"^  no    ([^:]*):", said, re.M)
        is_right = (done.returncode, wrong) == (exit_code, rows) and all(text in said for text in has)
        failures += not is_right
        print(f"{'ok   ' if is_right else 'WRONG'} {name}: exit code {done.returncode}" + ("" if is_right else f"\n{said}"), flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
