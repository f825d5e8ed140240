#!/usr/bin/env python3
"""Has `ci/package --check` look at archives that would not run where they are to: it must refuse each, and say why.
The runner and the agent are this machine's, linked with its own C library.

Usage: refusals.py --leakgate PATH --agent PATH
"""
import argparse
import pathlib
import subprocess
import sys
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARY = "int answer(void) { return 42; }"
USER = "int answer(void); int more(void) { return answer() + 1; }"


def said_of(archive: pathlib.Path) -> str:
    done = subprocess.run([ROOT / "ci/package", "--check", archive], capture_output=True, text=True, check=False)
    if done.returncode != 1:
        sys.exit(f"refusals: {archive.name}: exit code {done.returncode}, not 1\n{done.stdout}{done.stderr}")
    return done.stderr


def require(said: str, *texts: str) -> None:
    for text in texts:
        if text not in said:
            sys.exit(f"refusals: not said: {text}\n{said}")
        print(f"ok    {text}")


def compile_library(folder: pathlib.Path, name: str, source: str, *options: str) -> pathlib.Path:
    (folder / f"{name}.c").write_text(source)
    subprocess.run(["gcc", "-shared", "-fPIC", f"{name}.c", "-o", f"lib{name}.so", *options], cwd=folder, check=True)
    return folder / f"lib{name}.so"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--leakgate", type=pathlib.Path, required=True)
    parser.add_argument("--agent", type=pathlib.Path, required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="leakgate-refusals-") as scratch:
        folder = pathlib.Path(scratch)
        compile_library(folder, "answer", LIBRARY)
        user = compile_library(folder, "user", USER, "-L.", "-lanswer", "-Wl,-rpath,/opt/answers")
        archive = folder / "leakgate-0-linux-x86_64.tar.gz"
        with tarfile.open(archive, "w:gz", compresslevel=1) as made:
            made.add(options.leakgate, "leakgate-0/bin/leakgate")
            made.add(options.agent, "leakgate-0/lib/libleakgate_agent.so")
            made.add(user, "leakgate-0/lib/libuser.so")
        said = said_of(archive)
        require(said, "bin/leakgate needs GLIBC_2.3", "lib/libleakgate_agent.so needs GLIBC_2.35, later than 2.31",
                "lib/libuser.so needs libanswer.so", "lib/libuser.so has a path of its own to libraries: /opt/answers",
                "there is no share/doc/leakgate/notices/elfutils", "would not run where it is to")
        require(said_of(folder / "missing.tar.gz"), "missing.tar.gz")
        (folder / "no.tar.gz").write_text("no archive")
        require(said_of(folder / "no.tar.gz"), "no.tar.gz")


if __name__ == "__main__":
    main()
