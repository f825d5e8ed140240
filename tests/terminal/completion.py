#!/usr/bin/env python3
"""Has bash, zsh and fish complete command lines of leakgate, each by the script that is
installed for it, and looks at what they offer. bash and zsh run interactively, on a terminal.

Usage: completion.py --leakgate FILE --scripts FOLDER
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from report_formats import report_formats  # noqa: E402
from terminal import Checks, Terminal  # noqa: E402

FORMATS = set()  # of reports, as leakgate lists them
COMMANDS = {"run", "record", "recording", "top", "adopt", "doctor", "explain", "budget", "merge", "history", "session", "snapshot", "framework",
            "help", "completion", "man"}
# What is typed, and all that must be offered for the last word, and nothing else.
OFFERED = {
    "leakgate ": COMMANDS,
    "leakgate b": {"budget"},
    "leakgate budget ": {"schema", "check", "init", "ratchet"},
    "leakgate history t": {"trend"},
    "leakgate run --conf": {"--confirm", "--confirm-time", "--confirm-test-timeout", "--confirm-run-timeout", "--confirm-wait"},
    "leakgate run --confirm ": {"after", "inline", "off"},
    "leakgate run --budgets tests --confirm i": {"inline"},
    "leakgate run --progress ": {"auto", "bar", "lines", "none"},
    "leakgate run --budgets te": {"tests/"},
    "leakgate merge -o m.json res": {"results/"},
    "leakgate merge results me": {"merged.json"},
    "leakgate completion ": {"bash", "zsh", "fish"},
    "leakgate man m": {"merge", "man"},
    "leakgate help b": {"budget", "budgets"},
    # behind two dashes, the program's own: tool_of_tests has a completion in each shell
    "leakgate run -- tool_of_te": {"tool_of_tests"},
    "leakgate run --budgets tests -- tool_of_tests b": {"banana", "blueberry"},
    "leakgate run --confirm=off -- tool_of_tests --budg": set(),
}
# Where the shells differ in how a value behind '=' is told.
BEHIND_EQUALS = {
    "leakgate run --confirm=i": {"inline"},
    "leakgate run --report json=mer": {"merged.json"},
    "leakgate run --report=json=mer": {"merged.json"},
}


def add_formats(formats):
    """What is offered for a report's format, of all that leakgate has."""
    FORMATS.update(formats)
    OFFERED["leakgate run --report "] = {f"{name}=" for name in formats}
    OFFERED["leakgate run --report p"] = {f"{name}=" for name in formats if name.startswith("p")}
    BEHIND_EQUALS["leakgate run --report=s"] = {f"{name}=" for name in formats if name.startswith("s")}


def options_of(leakgate, command):
    """Each option that the command's --help has."""
    text = subprocess.run([leakgate, *command, "--help"], capture_output=True, text=True, check=True).stdout
    names = re.findall(r"^  ((?:-\w, )?--[\w-]+(?:, --[\w-]+)*)", text.split("Options:\n")[1], flags=re.M)
    return {name for line in names for name in line.split(", ")}


def commands_of(leakgate):
    text = subprocess.run([leakgate, "--help"], capture_output=True, text=True, check=True).stdout
    found = [[], *([name] for name in re.findall(r"^  (\w+) {3,}[A-Z]", text.split("Commands:")[1], flags=re.M))]
    return [*found, *(["budget", name] for name in ("schema", "check", "init", "ratchet")),
            *(["history", name] for name in ("add", "show", "trend")),
            *(["snapshot", name] for name in ("config", "take", "periodic", "show", "diff", "export", "bundle")),
            *(["recording", name] for name in ("show", "diff", "export", "import", "pause", "continue", "stop")),
            *(["session", name] for name in ("start", "exec", "update", "query", "list", "stop", "unit"))]


class Bash:
    """M-* has readline put all that is offered into the line, which a function then prints."""

    def __init__(self, script, folder, set_up):
        environment = {"PS1": "ready> ", "PATH": f"{folder}:{os.environ['PATH']}", "INPUTRC": "/dev/null"}
        self.folder = folder
        self.terminal = Terminal(["bash", "--norc", "--noprofile", "-i"], 400, 50, environment, cwd=folder)
        self.run("bind 'set enable-bracketed-paste off'")
        self.run("tell() { printf '<%s>' \"$@\"; echo; echo told; }")
        self.run(set_up)
        self.run(f"source {script}")

    def run(self, command):
        before = self.terminal.raw.count(b"ready> ")
        self.terminal.type(command + "\n")
        self.terminal.wait_for(f"the prompt after {command}", lambda it: it.raw.count(b"ready> ") > before)

    def offered(self, line):
        before = self.terminal.raw.count(b"\r\ntold\r\n")
        self.terminal.type(line + "\x1b*\x01tell \n")
        self.terminal.wait_for(f"what bash offers for {line}", lambda it: it.raw.count(b"\r\ntold\r\n") > before)
        said = self.terminal.raw.split(b"\r\ntold\r\n")[before].rsplit(b"\n", 1)[-1]
        words = re.findall(rb"<([^>]*)>", said)
        words = [word.decode() for word in words]
        typed = line.split(" ")
        words = words[len(typed) - 1:]  # the last word and on: what it was replaced by
        if words == [typed[-1]]:
            return set()  # nothing was
        value = re.search(r"^(.*[=:])", typed[-1])
        return {(word.removeprefix(value[1]) if value else word) + "/" * (self.folder / word).is_dir() for word in words}


class Zsh:
    """Lists what is offered below the line; the one that is, it puts into the line."""

    def __init__(self, script, folder):
        shutil.copy(script, folder / "functions")
        environment = {"PS1": "ready> ", "PATH": f"{folder}:{os.environ['PATH']}", "FOLDER": str(folder)}
        self.terminal = Terminal(["zsh", "-f", "-i"], 140, 60, environment, cwd=folder)
        for command in ("unsetopt auto_menu prompt_cr prompt_sp list_types auto_remove_slash list_ambiguous",
                        "LISTMAX=10000; bindkey -e",
                        "fpath=($FOLDER/functions $fpath); autoload -U compinit; compinit -u -D",
                        "_tool_of_tests() { compadd banana blueberry cherry }; compdef _tool_of_tests tool_of_tests",
                        # a title of the window says that all is on the screen
                        "tab() { zle complete-word; zle -R; printf '\\e]2;told\\a' >$TTY }; zle -N tab; bindkey '^I' tab"):
            self.terminal.wait_for("the prompt", lambda it: it.lines()[it.screen.cursor.y].startswith("ready>"))
            self.terminal.type(command + "\r")
            self.terminal.wait_for(command, lambda it: it.lines()[it.screen.cursor.y] == "ready>")

    def offered(self, line):
        self.terminal.type("\x15\x0c" + line)
        self.terminal.wait_for(f"{line} on the screen", lambda it: it.lines()[0] == f"ready> {line}".rstrip())
        before = self.terminal.raw.count(b"told\a")
        self.terminal.type("\t")
        self.terminal.wait_for(f"what zsh offers for {line}", lambda it: it.raw.count(b"told\a") > before)
        now, *below = self.terminal.lines()
        words = {text.split(" ")[0] for row in below for text in re.split(r"  +(?!-- )", row)} - {""}
        if words:
            # Of formats it shows what is to be typed, and not the '=' that it puts behind.
            return {f"{word}=" for word in words} if words <= FORMATS else words
        completed = now.removeprefix("ready> ")
        if completed == line.rstrip():
            return set()
        last = completed.split(" ")[-1]
        value = re.search(r"^(.*=)(?=.)", last)
        return {last.removeprefix(value[1]) if value and "=" in line.split(" ")[-1] else last}


class Fish:
    def __init__(self, script, folder):
        self.script, self.folder = script, folder

    def offered(self, line):
        code = (f"set -x PATH {self.folder} $PATH; source {self.script};"
                "complete -c tool_of_tests -f -a 'banana blueberry cherry'; complete -C $argv[1]")
        environment = {**os.environ, "HOME": str(self.folder), "XDG_DATA_HOME": str(self.folder)}
        done = subprocess.run(["fish", "--no-config", "-c", code, line], capture_output=True, text=True, check=False,
                              cwd=self.folder, env=environment)
        assert not done.stderr, done.stderr
        words = [text.split("\t")[0] for text in done.stdout.splitlines()]
        last = line.split(" ")[-1]
        value = re.search(r"^(.*=)", last)
        return {word.removeprefix(value[1]) if value else word for word in words}


def check(checks, shell, name, leakgate):
    for line, wanted in (OFFERED | BEHIND_EQUALS).items():
        offered = shell.offered(line)
        checks.require(f"{name}: {line}", offered == wanted, f"      offered {sorted(offered)}, wanted {sorted(wanted)}")
    for command in commands_of(leakgate):
        wanted = options_of(leakgate, command)
        short = {option for option in wanted if not option.startswith("--")}
        line = " ".join(["leakgate", *command, ""])
        offered = shell.offered(line + "--") | (shell.offered(line + "-") if short else set())
        checks.require(f"{name}: all options of {line}", wanted <= offered and offered <= wanted | {"--"},
                       f"      offered {sorted(offered)}, wanted {sorted(wanted)}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--leakgate", type=pathlib.Path, required=True)
    parser.add_argument("--scripts", type=pathlib.Path, required=True)
    options = parser.parse_args()
    add_formats(report_formats(options.leakgate))
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="leakgate-completion-") as name:
        folder = pathlib.Path(name)
        for made in ("tests", "results", "functions"):
            (folder / made).mkdir()
        (folder / "merged.json").touch()
        (folder / "tool_of_tests").write_text("#!/bin/sh\n")
        (folder / "tool_of_tests").chmod(0o755)
        own = "complete -W 'banana blueberry cherry' tool_of_tests"
        framework = f"source /usr/share/bash-completion/bash_completion; {own}"
        check(checks, Bash(options.scripts / "leakgate", folder, framework), "bash", options.leakgate)
        bare = Bash(options.scripts / "leakgate", folder, own)
        for line in ("leakgate run --confirm=i", "leakgate run --report=json=mer", "leakgate run -- tool_of_te"):
            checks.require(f"bash without bash-completion: {line}", bare.offered(line) == (OFFERED | BEHIND_EQUALS)[line])
        check(checks, Zsh(options.scripts / "_leakgate", folder), "zsh", options.leakgate)
        check(checks, Fish(options.scripts / "leakgate.fish", folder), "fish", options.leakgate)
    checks.finish()


if __name__ == "__main__":
    main()
