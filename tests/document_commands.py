#!/usr/bin/env python3
"""Runs what the documents show, as it stands there.

In README.md and docs/: each line of a ```sh block, and the lines with "$ " of a ```console block,
whose other lines are what the command prints ("..." stands for any lines, or for a part of one). In the READMEs of
examples/: each indented line. A comment behind a command tells how it ends, and what it prints:
"# exits with 1: TEXT"; without one it exits with 0.

Each document has a directory of its own, with leakgate in PATH and a real binary in build/. A ```json block is a file that a command before it wrote into tests/. What has tests
of its own, or is no command as it stands, is named here, so that a new one cannot go untested.
"""
import argparse
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/support"))
from readme import install_commands  # noqa: E402: found by the line above

TESTED_ELSEWHERE = {
    "tar -xzf leakgate-0.1.0-linux-x86_64.tar.gz -C /usr/local --strip-components=1": "pipelines.templates",
    **dict.fromkeys(install_commands(), "tests/install_commands.py"),
    "ctest --test-dir build/dev -R example.components": "its tests are among those of this build",
    "bazel test --config=leaks //...": "example.bazel",
    "leakgate adopt --prove --budgets src -- build/my_tests": "integration.adopt_components",
    "leakgate run --budgets src -- build/my_tests": "integration.adopt_components",
    "leakgate merge bazel-testlogs": "example.bazel",
}


@dataclasses.dataclass
class Document:
    name: str
    binary: str  # the example that is in build/
    budgets: str = ""  # the example whose files are in tests/
    has_files: bool = False  # its ```json blocks are files that its commands wrote
    called: str = "my_tests"


DOCUMENTS = [
    Document("README.md", "no_rebuild"),
    Document("docs/getting-started.md", "no_rebuild", has_files=True),
    Document("docs/budgets.md", "with_budgets"),
    Document("docs/gallery.md", "gallery"),
    Document("docs/snapshots.md", "hunt", called="server"),
    Document("docs/recordings.md", "words"),
]


@dataclasses.dataclass
class Command:
    line: str
    exit_code: int = 0
    says: str = ""
    output: list[str] | None = None  # all of it, where the document shows it


def command_of(line: str) -> Command:
    command, _, comment = (part.strip() for part in line.partition(" #"))
    found = re.fullmatch(r".*?exits with (\d+)(?:: (.*))?", comment)
    return Command(command, int(found[1]), found[2] or "") if found else Command(command)


def shell_commands(block: str) -> list[Command]:
    return [command_of(line) for line in block.splitlines() if line and not line.startswith("#")]


def console_commands(block: str) -> list[Command]:
    commands = []
    for line in block.splitlines():
        if line.startswith("$ "):
            commands.append(command_of(line.removeprefix("$ ")))
            commands[-1].output = []
        else:
            commands[-1].output.append(line)
    return commands


def comparable(text: str) -> str:
    """Without what differs from run to run: PIDs, times, days, where the checkout is, what is inlined."""
    text = text.replace(f"{ROOT}/", "").replace(" [inlined]", "")
    text = re.sub(r"(?<=\S) +", " ", text)  # columns
    text = re.sub(r"\bPID \d+", "PID", text)
    text = re.sub(r"\b\d+(\.\d+)? (ms|s)\b", "TIME", text)
    return re.sub(r"\b\d{4}-\d\d-\d\d\b", "DAY", text).strip()


def has_output(shown: list[str], printed: str) -> bool:
    """A line of "..." stands for any lines, " ..." at the end of one for its rest, " ... " for a part."""
    pattern = ""
    for line in shown:
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
            continue
        parts = line.removesuffix(" ...").split(" ... ")
        rest = ".*" if line.endswith(" ...") else ""
        pattern += " *" + ".*".join(re.escape(comparable(part)) for part in parts) + rest + r"\n"
    return re.search(pattern, comparable(printed) + "\n") is not None


class Runner:
    def __init__(self, scratch: pathlib.Path, leakgate: pathlib.Path):
        self._scratch = scratch
        self._environment = {**os.environ, "PATH": f"{leakgate.parent}:{os.environ['PATH']}"}
        self.failures = 0

    def run(self, command: Command) -> None:
        if command.line in TESTED_ELSEWHERE:
            print(f"      {command.line}: {TESTED_ELSEWHERE[command.line]}")
            return
        # A file, not a pipe: what a command leaves running has it, too.
        with tempfile.TemporaryFile("w+") as output:
            done = subprocess.run(["bash", "-c", command.line], cwd=self._scratch, env=self._environment,
                                  stdout=output, stderr=subprocess.STDOUT, check=False)
            output.seek(0)
            said = output.read()
        is_right = done.returncode == command.exit_code and command.says in said
        if command.output is not None:
            is_right = is_right and has_output(command.output, said)
        self.tell(is_right, f"{command.line}: exit code {done.returncode}", said)

    def find_file(self, text: str) -> None:
        written = [file.read_text() for file in (self._scratch / "tests").glob("*.json")]
        self.tell(comparable(text) in map(comparable, written), "a file that was written", "\n".join(written))

    def tell(self, is_right: bool, what: str, else_print: str) -> None:
        print(f"{'ok   ' if is_right else 'WRONG'} {what}", flush=True)
        if not is_right:
            self.failures += 1
            print(else_print)


def run_document(document: Document, scratch: pathlib.Path, options: argparse.Namespace) -> int:
    if document.budgets:
        shutil.copytree(ROOT / "examples" / document.budgets, scratch / "tests")
    else:
        (scratch / "tests").mkdir()
    (scratch / "build").mkdir()
    shutil.copy(options.build / f"examples/example_{document.binary}", scratch / "build" / document.called)
    runner = Runner(scratch, options.leakgate)
    text = (ROOT / document.name).read_text()
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```", text, flags=re.M | re.S):
        if language == "json" and document.has_files:
            runner.find_file(block)
        commands = {"sh": shell_commands, "console": console_commands}.get(language)
        for command in commands(block) if commands else []:
            runner.run(command)
    return runner.failures


def run_example(readme: pathlib.Path, scratch: pathlib.Path, options: argparse.Namespace) -> int:
    # As in a checkout with a build tree.
    (scratch / "examples").symlink_to(ROOT / "examples")
    (scratch / "build").mkdir()
    (scratch / "build/dev").symlink_to(options.build)
    runner = Runner(scratch, options.leakgate)
    for line in re.findall(r"^    (.*)$", readme.read_text(), flags=re.M):
        runner.run(command_of(line))
    return runner.failures


def main() -> None:
    parser = argparse.ArgumentParser()
    for name in ("--leakgate", "--build"):
        parser.add_argument(name, type=lambda text: pathlib.Path(text).resolve(), required=True)
    options = parser.parse_args()

    failures = 0
    for document in DOCUMENTS:
        print(f"{document.name}:")
        with tempfile.TemporaryDirectory(prefix="leakgate-document-") as scratch:
            failures += run_document(document, pathlib.Path(scratch), options)
    for readme in sorted(ROOT.glob("examples/*/README.md")):
        print(f"{readme.relative_to(ROOT)}:")
        with tempfile.TemporaryDirectory(prefix="leakgate-document-") as scratch:
            failures += run_example(readme, pathlib.Path(scratch), options)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
