#!/usr/bin/env python3
"""Looks at what leakgate shows of a run and of a merge that take a while: on terminals, whose
screens must come out as if nothing had been shown, and in logs.

Usage: progress.py --leakgate FILE --suite FILE
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time

from terminal import Checks, Terminal

TAKEN = re.compile(rb"\x1b\[1;\d+r")  # the last row, out of what scrolls
NOTES = [f"note {number}: first half, second half" for number in range(14)]
STATUS = re.compile(r"^leakgate: (\[[#.]{20}\] )?\d+ (of \d+ )?tests?(, 1 over budget)?, \d+ s  (Many/Slow.Step/\d+|SlowLeaks.\w+)?$")


def last_row(terminal):
    return terminal.lines()[-1]


def shows_status(terminal):
    return STATUS.match(last_row(terminal)) is not None


def status_has_gone(terminal):
    """The screen scrolls as a whole again: what is in its last row now is other output."""
    return terminal.screen.margins is None and not shows_status(terminal)


def timeless(text):
    """How often a test is repeated depends on the time that it takes, on a busy machine or another."""
    text = text.replace("\n", "")  # that of long lines is anywhere
    text = re.sub(r"\bin \d+ repetitions( it grew)?( by \d+ blocks, \d+ B)?", "in some repetitions", text)
    return re.sub(r"\d+(\.\d+)? (ms|s)\b", "some time", text)


class Commands:
    def __init__(self, leakgate, suite, folder):
        self.leakgate, self.suite, self.folder = leakgate, suite, folder

    def run(self, *options, tests="*"):
        return [self.leakgate, "run", "--confirm-test-timeout=4", *options, "--", self.suite, f"--gtest_filter={tests}"]

    def log(self):
        return str(self.folder / "log")


def check_bar_beside_a_log(checks, commands):
    """leakgate run -- BINARY > log: standard error is the program's, too."""
    for rows in (60, 12):  # with room for all, and scrolling
        screens = {}
        for mode in ("none", "auto"):
            with Terminal(commands.run(f"--progress={mode}"), 110, rows, streams={1: commands.log()}) as terminal:
                seen = set()
                confirming = set()
                while b"leakgate: 16 tests:" not in terminal.raw:
                    terminal.wait_for("more", lambda it: it.read(0.2) or True)
                    seen |= {last_row(terminal)} if shows_status(terminal) else set()
                    confirming |= set(re.findall(r"^leakgate: \[\.{20}\] confirming 1 of 1 test, \d+ s  SlowLeaks.Retains", last_row(terminal)))
                code = terminal.wait_for_end()
                screens[mode] = terminal.text()
                margins, cursor = terminal.screen.margins, terminal.screen.cursor
                column = cursor.x
        checks.require(f"{rows} rows: the suite fails", code == 1, str(code))
        checks.require(f"{rows} rows: the row changes as tests run", len(seen) >= 3, str(seen))
        checks.require(f"{rows} rows: what is over budget is counted", any("1 over budget" in row for row in seen), str(seen))
        checks.require(f"{rows} rows: the row tells of repetitions", bool(confirming), str(confirming))
        checks.require(f"{rows} rows: the screen is as without", timeless(screens["auto"]) == timeless(screens["none"]),
                       f"{screens['auto']}\n---- without:\n{screens['none']}")
        checks.require(f"{rows} rows: the whole screen scrolls again", margins is None and column == 0, f"{margins} {column}")
        if rows == 60:
            checks.require("the program's half lines were whole",
                           [line for line in screens["auto"].splitlines() if "note" in line] == NOTES, screens["auto"])


def check_one_terminal(checks, commands):
    """GoogleTest shows on the terminal how far it is: only repetitions need telling, unless asked."""
    screens = {}
    for mode in ("none", "auto", "bar"):
        with Terminal(commands.run(f"--progress={mode}"), 110, 100) as terminal:
            terminal.wait_for("the last test", lambda it: b"Many/Slow.Step/13 (" in it.raw)
            during = terminal.raw
            terminal.wait_for_end()
            screens[mode] = terminal.text()
            if mode == "auto":
                checks.require("one terminal: nothing is shown while GoogleTest writes", not TAKEN.search(during))
                checks.require("one terminal: repetitions are told", b"confirming 1 of 1 test" in terminal.raw)
            if mode == "bar":
                checks.require("one terminal: a bar that is asked for is shown", re.search(rb"leakgate: \d+ tests, 1 over budget, ", during), repr(during))
    for mode in ("auto", "bar"):
        checks.require(f"one terminal: with {mode} the screen is as without", timeless(screens[mode]) == timeless(screens["none"]),
                       f"{screens[mode]}\n---- without:\n{screens['none']}")


def check_all_are_known(checks, commands):
    (commands.folder / "slow.leakgate.json").write_text('{"component": "slow"}')
    budgets = ("--budgets", str(commands.folder / "slow.leakgate.json"))
    with Terminal(commands.run(*budgets), 110, 30, streams={1: commands.log()}) as terminal:
        terminal.wait_for("how many tests there are", lambda it: re.match(
            r"leakgate: \[#+\.+\] \d+ of 16 tests, 1 over budget, \d+ s  Many/Slow\.Step/\d+$", last_row(it)))
        terminal.wait_for_end()
    checks.require("tests that were listed are counted", True)


def check_resize(checks, commands):
    with Terminal(commands.run(), 110, 30, streams={1: commands.log()}) as terminal:
        terminal.wait_for("the row", shows_status)
        terminal.resize(90, 40)
        terminal.wait_for("the row at its new place", lambda it: shows_status(it) and it.screen.margins == (0, 38))
        terminal.resize(100, 34)
        terminal.wait_for("the row at its next place", lambda it: shows_status(it) and it.screen.margins == (0, 32))
        terminal.wait_for_end()
        checks.require("resized: nothing of the row is left", not re.search(r"leakgate: \d+ tests, ", terminal.text()), terminal.text())
        checks.require("resized: the whole screen scrolls again", terminal.screen.margins is None)


class Shell:
    """An interactive shell with job control."""

    def __init__(self, commands):
        self.terminal = Terminal(["bash", "--norc", "--noprofile", "--noediting", "-i"], 110, 50,
                                 {"PS1": "prompt> ", "LOG": commands.log()})
        self.command = " ".join(str(word) for word in commands.run()) .replace("*", "\\*")
        self.terminal.wait_for("the prompt", lambda it: "prompt>" in it.text())


def check_stop(checks, commands):
    """Ctrl-Z gives the shell its whole terminal; fg has it again."""
    shell = Shell(commands)
    with shell.terminal as terminal:
        terminal.type(shell.command + " >$LOG\n")
        terminal.wait_for("the row", shows_status)
        terminal.type("\x1a")
        terminal.wait_for("the shell", lambda it: "Stopped" in it.text() and it.text().rstrip().endswith("prompt>"))
        checks.require("Ctrl-Z: the row has gone", status_has_gone(terminal), terminal.text())
        before = terminal.raw
        for _ in range(5):
            terminal.read(0.1)
        checks.require("Ctrl-Z: nothing is written while it is stopped", terminal.raw == before, repr(terminal.raw[len(before):]))
        terminal.type("fg\n")
        terminal.wait_for("the row again", shows_status)
        terminal.wait_for("the end", lambda it: "leakgate: 16 tests:" in it.text())
        checks.require("fg: the row has gone at the end", status_has_gone(terminal), terminal.text())


def check_background(checks, commands):
    """The terminal is the shell's."""
    shell = Shell(commands)
    with shell.terminal as terminal:
        terminal.type(shell.command + " >$LOG &\n")
        terminal.wait_for("the end", lambda it: "leakgate: 16 tests:" in it.text())
        checks.require("in the background nothing is shown", not TAKEN.search(terminal.raw), repr(terminal.raw))


def check_interrupt(checks, commands):
    shell = Shell(commands)
    with shell.terminal as terminal:
        terminal.type(shell.command + " >$LOG\n")
        terminal.wait_for("the row", shows_status)
        terminal.type("\x03")
        terminal.wait_for("the end", lambda it: "killed by signal 2" in it.text() and it.text().rstrip().endswith("prompt>"))
        checks.require("Ctrl-C: the row has gone", status_has_gone(terminal), terminal.text())


def said(command, **environment):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False,
                          env={"PATH": "/usr/bin:/bin", **environment})
    return done.stderr


def check_log(checks, commands):
    often = {"LEAKGATE_PROGRESS_INTERVAL": "0.4"}
    lines = re.findall(r"^leakgate: (\d+) tests?(?:, 1 over budget)?, \d+ s$", said(commands.run(), **often).replace("half,", "half,\n"), flags=re.M)
    numbers = [int(number) for number in lines]
    checks.require("a log has lines", len(numbers) >= 5 and numbers == sorted(numbers) and numbers[-1] >= 13, str(lines))
    other = said([commands.leakgate, "run", "--", "sleep", "1.5"], **often)
    checks.require("of a program without tests a log says that it runs", re.search(r"^leakgate: running, 1 s$", other, flags=re.M), other)
    few = commands.run(tests="Many/Slow.Step/1")
    checks.require("a short run says nothing of it", " s\n" not in said(few).split("leakgate:")[0] and "leakgate: 0 tests, " not in said(few), said(few))
    checks.require("--quiet has no lines", "leakgate: " not in said(commands.run("--quiet", tests="Many*"), **often))
    checks.require("--progress=none has no lines", not re.search(r"^leakgate: \d+ tests?, ", said(commands.run("--progress=none", tests="Many*"), **often), flags=re.M))
    with Terminal(commands.run(tests="Many*"), 110, 30, {"TERM": "dumb"}, {1: commands.log()}) as terminal:
        terminal.wait_for_end()
        checks.require("a dumb terminal is not steered", not TAKEN.search(terminal.raw) and b"\x1b7" not in terminal.raw)
    recording = commands.folder / "recording"
    said([commands.leakgate, "record", "-o", recording, "--", "true"])
    for kind, has_colours in (("xterm", True), ("dumb", False)):
        with Terminal([commands.leakgate, "recording", "show", recording], 110, 30, {"TERM": kind, "NO_COLOR": ""}) as terminal:
            terminal.wait_for_end()
            checks.require(f"colours on {kind}", (b"\x1b[1m" in terminal.raw) == has_colours and (has_colours or b"\x1b" not in terminal.raw), str(terminal.raw[:300]))


def check_merge(checks, commands):
    report = commands.folder / "run.json"
    said(commands.run("--report", f"json={report}", tests="Many*"))
    run = json.loads(report.read_text())
    results = commands.folder / "results"
    results.mkdir()
    for number in range(1500):
        run["binary"] = f"test-{number}"
        (results / f"{number}.json").write_text(json.dumps(run))
    merge = [commands.leakgate, "merge", results, "-o", commands.folder / "merged.json"]
    lines = said(merge, LEAKGATE_PROGRESS_INTERVAL="0.01")
    for stage in ("read", "written"):
        noun = "results" if stage == "read" else "runs"
        numbers = [int(number) for number in re.findall(rf"^leakgate: {stage} (\d+) of 1500 {noun}, \d+ s$", lines, flags=re.M)]
        checks.require(f"merge: a log has lines of what was {stage}", len(numbers) >= 1 and numbers == sorted(numbers), lines)
    checks.require("merge: no lines by default", not re.search(r"^leakgate: (read|written)", said(merge), flags=re.M))
    for delay in (0.1, 0.2, 0.3, 0.4, 0.5, 0.05):  # it takes longer than a bar waits, by a stop in the middle
        with Terminal(merge, 110, 30) as terminal:
            time.sleep(delay)
            os.kill(terminal.pid, signal.SIGSTOP)
            time.sleep(1.2)
            os.kill(terminal.pid, signal.SIGCONT)
            terminal.wait_for_end()
            shown = re.search(rb"\rleakgate: \[[#.]{20}\] (read|written) \d+ of 1500 ", terminal.raw)
            if shown:
                break
    checks.require("merge: a bar is shown", shown is not None, repr(terminal.raw))
    checks.require("merge: the bar has gone", terminal.lines()[0].startswith("leakgate: 1500 runs"), terminal.text())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--leakgate", type=pathlib.Path, required=True)
    parser.add_argument("--suite", type=pathlib.Path, required=True)
    options = parser.parse_args()
    checks = Checks()
    every = (check_bar_beside_a_log, check_one_terminal, check_all_are_known, check_resize, check_stop,
             check_background, check_interrupt, check_log, check_merge)

    def run(check):
        with tempfile.TemporaryDirectory(prefix="leakgate-progress-") as name:
            check(checks, Commands(options.leakgate, options.suite, pathlib.Path(name)))

    # They wait more than they work.
    with concurrent.futures.ThreadPoolExecutor(max_workers=4) as pool:
        for done in [pool.submit(run, check) for check in every]:
            done.result()
    checks.finish()


if __name__ == "__main__":
    main()
