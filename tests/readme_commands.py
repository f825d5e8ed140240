#!/usr/bin/env python3
"""Runs what README.md shows: every line of its ```sh blocks.

Each block runs in a directory of its own, with leakgate in PATH and a real test
binary at build/my_tests, as the README has them. The expected exit code stands
in a comment behind a command ("# exits with 1"). The commands that have tests
of their own are named here, so that a new one cannot go untested.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TESTED_ELSEWHERE = {
    "ci/quickstart": "by CI, from a fresh clone; its parts as real.leveldb.*",
    "ci/test": "it runs this test",
    "cmake --preset release": "the first step of ci/quickstart",
    "cmake --build --preset release": "the second step of ci/quickstart",
    "cmake --install build/release --prefix ~/.local": "consumer.find_package",
}


def commands_of(text: str) -> list[str]:
    blocks = re.findall(r"^```sh\n(.*?)^```", text, flags=re.M | re.S)
    lines = [line.removeprefix("$ ") for block in blocks for line in block.splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--leakgate", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    options = parser.parse_args()

    failed = 0
    with tempfile.TemporaryDirectory(prefix="leakgate-readme-") as scratch:
        shutil.copytree(ROOT / "examples/with_budgets", pathlib.Path(scratch) / "tests")
        (pathlib.Path(scratch) / "build").mkdir()
        shutil.copy(options.build / "examples/example_with_budgets", pathlib.Path(scratch) / "build/my_tests")
        environment = {**os.environ, "PATH": f"{options.leakgate.parent}:{os.environ['PATH']}"}
        for line in commands_of((ROOT / "README.md").read_text()):
            command, _, comment = (part.strip() for part in line.partition("#"))
            if command in TESTED_ELSEWHERE:
                print(f"      {command}: {TESTED_ELSEWHERE[command]}")
                continue
            expected = re.search(r"exits with (\d+)", comment)
            done = subprocess.run(["bash", "-c", command], cwd=scratch, env=environment,
                                  capture_output=True, text=True, check=False)
            is_right = done.returncode == int(expected.group(1) if expected else 0)
            print(f"{'ok   ' if is_right else 'WRONG'} {command}: exit code {done.returncode}")
            if not is_right:
                failed += 1
                print(done.stdout + done.stderr)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
