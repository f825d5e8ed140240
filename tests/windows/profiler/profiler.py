#!/usr/bin/env python3
"""Runs the heap profiler of leakgate.exe under Wine, as users do: recordings, snapshots of tests and of processes that run,
what the program maps, and files of another system.

Usage: profiler.py --wine ci/wine --leakgate PATH --fixtures FOLDER [SCENARIO...]
"""
import contextlib
import json
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from harness import check, contains, main, scenario, wait_until, write

KIB = 1024
FILES = pathlib.Path(__file__).parents[2] / "unit/snapshot/files"


def shown(gate, *arguments) -> dict:
    done = gate(*arguments, "--json")
    check(done.returncode == 0, f"exit code {done.returncode}", done)
    return json.loads(done.stdout)


def rows(view: dict, by: str) -> list[dict]:
    return next(table["rows"] for table in view["tables"] if table["by"] == by)


def of_site(view: dict, name: str) -> dict:
    """The row of the call site in the function of that name."""
    return next(row for row in rows(view, "site") if row["name"].startswith(name))


def record(gate, file: str, *options, program=("work", 200), expect=0) -> subprocess.CompletedProcess:
    done = gate("record", "-o", file, *options, "--", gate.fixtures / "profiled.exe", *program)
    check(done.returncode == expect, f"exit code {done.returncode} instead of {expect}", done)
    return done


@contextlib.contextmanager
def running(gate, *options, what="wait", command="run", program="profiled.exe"):
    """A program that leakgate runs until the block ends. Gives its PID, once it is ready. leakgate's exit code must be 0."""
    stop = gate.folder / "stop"
    stop.unlink(missing_ok=True)
    with open(gate.folder / "output", "wb") as output:
        process = subprocess.Popen(gate.command(command, *options, "--", gate.fixtures / program, what), cwd=gate.folder,
                                   env=gate.environment(), stdout=output, stderr=subprocess.STDOUT)
    told = lambda: (gate.folder / "output").read_text(errors="replace")
    try:
        check(wait_until(lambda: re.search("ready [0-9]+[.]", told())), f"it does not begin:\n{told()}")
        pid = re.search("ready ([0-9]+)", told())[1]
        listed = json.loads(gate("session", "list", "--json").stdout)["runs"]  # with those of tests beside this one
        check(any(str(process["pid"]) == pid for run in listed for process in run["processes"]), f"{pid} is not listed: {listed}")
        yield pid
    finally:
        stop.touch()
        try:
            process.wait(60)
        finally:
            process.kill()
    check(process.returncode == 0, f"exit code {process.returncode}:\n{told()}")


@scenario
def each_event_is_recorded(gate):
    """Of two threads, also through few and small buffers; what is lost where threads do not wait is told."""
    for number, options in enumerate((("--stacks", "alloc,realloc,free"), ("--buffers", 4, "--buffer-size", "4K"))):
        file = f"{number}.recording"
        record(gate, file, *options, program=("work", 100000))
        view = shown(gate, "recording", "show", file)
        check(view["recording"]["lost_events"] == 0, "events are lost")
        check(of_site(view, "(anonymous namespace)::Keep")["outstanding"] == {"bytes": 1001000, "blocks": 1000}, "kept otherwise")
        churned = of_site(view, "(anonymous namespace)::Churn")
        check(churned["total"] == {"bytes": 112 * 100000, "blocks": 200000}, f"{churned}")
        check(churned["temporary"]["blocks"] == 200000 and churned["outstanding"]["blocks"] == 0, f"{churned}")
    told = record(gate, "lossy.recording", "--buffers", 2, "--buffer-size", "4K", "--when-full", "lose", program=("work", 100000))
    view = shown(gate, "recording", "show", "lossy.recording")
    check(view["recording"]["lost_events"] > 0, "nothing is lost")
    contains(told.stderr, "incomplete:", f"{view['recording']['lost_events']} events were lost")
    told = gate("record", "-o", "lossy.recording", "--", gate.fixtures / "profiled.exe", "work")
    check(told.returncode == 2, "a recording is replaced", told)


@scenario
def a_killed_program_leaves_its_events(gate):
    """All that its threads had written; its exit code is passed on."""
    record(gate, "killed.recording", program=("die",), expect=42)
    view = shown(gate, "recording", "show", "killed.recording")
    check(of_site(view, "(anonymous namespace)::Keep")["outstanding"]["blocks"] == 1000, "events are missing")


@scenario
def tests_leave_files(gate):
    """Snapshots and recordings of tests that are over budget, as `run` keeps them, and verdicts as without."""
    for when, kept in (("over_budget", {"Gate.Loses"}), ("every", {"Gate.Loses", "Gate.Passes"})):
        gate.run("suite.exe", "--snapshots", when, "--record", when, "--when", when, tests="Gate.Passes:Gate.Loses", expect=1)
        check(gate.window("Gate.Loses")["lost"]["bytes"] == 777, "it loses otherwise")
        folder = gate.folder / when
        names = lambda ending: sorted(path.name for path in folder.glob("*" + ending))
        check({name.split("-")[3] for name in names("-end.snapshot")} == kept, f"{names('')}")
        check({name.split("-")[3].removesuffix(".recording") for name in names(".recording")} == kept, f"{names('')}")
    begin, end = (next(folder.glob(f"*Loses-{moment}.snapshot")).relative_to(gate.folder) for moment in ("begin", "end"))
    diff = shown(gate, "snapshot", "diff", begin, end)
    check(diff["total"]["appeared"]["bytes"] >= 777, f"{diff['total']}")
    view = shown(gate, "recording", "show", next(folder.glob("*Loses.recording")).relative_to(gate.folder))
    check(view["recording"]["test"] == "Gate.Loses", "another test")
    check(any(row["outstanding"] == {"bytes": 777, "blocks": 1} for row in rows(view, "site")), "no 777 B")


@scenario
def other_shells_look_at_a_run(gate):
    """They take snapshots of a process that a run traces, running and stopped, and see what grows."""
    with running(gate) as pid:
        for file, *options in (("1.snapshot",), ("2.snapshot", "--consistent")):
            taken = gate("snapshot", "take", "--pid", pid, "-o", file, *options)
            check(taken.returncode == 0, f"exit code {taken.returncode}", taken)
            view = shown(gate, "snapshot", "show", file)
            kept = of_site(view, "(anonymous namespace)::Keep")
            check((kept["bytes"], kept["blocks"]) == (100100, 100), f"{kept}")
        check(view["snapshot"]["state"] == "stopped", f"{view['snapshot']}")
        (gate.folder / "grow").touch()
        seen = gate("top", pid, "--every", "300ms", "--stop-after", 3, "--json")
        check(seen.returncode == 0, f"exit code {seen.returncode}", seen)
        looks = [json.loads(line) for line in seen.stdout.splitlines()]
        grown = next(site for site in looks[-1]["sites"] if site["name"].startswith("(anonymous namespace)::Keep"))
        check(grown["grown"]["blocks"] > 0 and grown["grown"]["bytes"] == 77 * grown["grown"]["blocks"], f"{grown}")
        done = gate("snapshot", "periodic", "--pid", pid, "--every", "200ms", "--stop-after", 2, "-o", "ring")
        check(done.returncode == 0 and len(list((gate.folder / "ring").iterdir())) == 2, "no snapshots", done)
        none = gate("snapshot", "take", "--pid", 999999, "-o", "none.snapshot")
        check(none.returncode == 2, "a process that is not there", none)
    change = shown(gate, "snapshot", "diff", "1.snapshot", "2.snapshot")
    check(change["same_process"] and change["total"]["growth"]["blocks"] >= 0, f"{change}")
    bundled = gate("snapshot", "bundle", "1.snapshot", "2.snapshot", "-o", "hunt.zip")
    check(bundled.returncode == 0, "no bundle", bundled)
    listed = gate("snapshot", "show", "hunt.zip")
    contains(listed.stdout, "1.snapshot", "2.snapshot")
    kept = of_site(shown(gate, "snapshot", "show", "hunt.zip/1.snapshot"), "(anonymous namespace)::Keep")
    check(kept["blocks"] == 100, f"{kept}")
    exported = gate("snapshot", "export", "1.snapshot", "--format", "pprof", "-o", "1.pprof")
    check(exported.returncode == 0 and (gate.folder / "1.pprof").stat().st_size > 100, "no profile", exported)


@scenario
def a_program_that_imports_the_agent(gate):
    """As others if leakgate starts it; else nobody traces it, and each command says what to do."""
    environment = {**gate.environment(), "WINEPATH": "Z:" + str(gate.leakgate.parent).replace("/", "\\")}
    gate.environment = lambda: environment
    with running(gate, program="importing_profiled.exe") as pid:
        taken = gate("snapshot", "take", "--pid", pid, "-o", "1.snapshot")
        check(taken.returncode == 0, f"exit code {taken.returncode}", taken)
        check(of_site(shown(gate, "snapshot", "show", "1.snapshot"), "(anonymous namespace)::Keep")["blocks"] == 100, "other blocks")
    (gate.folder / "stop").unlink()
    alone = subprocess.Popen([gate.wine, gate.fixtures / "importing_profiled.exe", "wait"], cwd=gate.folder, env=environment,
                             stdout=subprocess.PIPE)
    try:
        ready = re.search("ready ([0-9]+)", alone.stdout.readline().decode())
        for command in (("snapshot", "take", "-o", "2.snapshot", "--pid"), ("top",)):
            refused = gate(*command, ready[1])
            check(refused.returncode == 2, f"exit code {refused.returncode}", refused)
            contains(refused.stderr, "; start the program by leakgate run or leakgate record\n")
        check(not (gate.folder / "2.snapshot").exists(), "a file is left")
        (gate.folder / "stop").touch()
        check(alone.wait(60) == 0, "it is not as it was")
    finally:
        alone.kill()


@scenario
def a_recording_pauses(gate):
    """Other shells switch it off and on, and end it while the program goes on."""
    with running(gate, "-o", "p.recording", command="record") as pid:
        taken = gate("snapshot", "take", "--pid", pid, "-o", "of_recorded.snapshot")
        check(taken.returncode == 0, "no snapshot", taken)
        for what in ("pause", "continue", "stop"):
            done = gate("recording", what, "--pid", pid)
            check(done.returncode == 0, what, done)
    contains(gate("recording", "show", "p.recording").stdout, "paused")


@scenario
def mappings_are_told(gate):
    """What VirtualAlloc and views have mapped, to the byte, in snapshots and recordings. No verdict depends on it."""
    (gate.folder / "mapped").write_bytes(bytes(32 * KIB))
    with running(gate, "--report", "json=report.json", what="map") as pid:
        taken = gate("snapshot", "take", "--pid", pid, "-o", "m.snapshot")
        check(taken.returncode == 0, "no snapshot", taken)
    report = json.loads((gate.folder / "report.json").read_text())
    check(report["verdict"] == "pass" and not any(window.get("mappings") for window in report["windows"]), "a verdict depends on them")
    view = shown(gate, "snapshot", "show", "m.snapshot", "--mapped")
    wanted = {"Commit": (96 * KIB, 0), "Reserve": (0, 928 * KIB), "MapSection": (288 * KIB, 0)}
    for name, (committed, reserved) in wanted.items():
        row = of_site(view, f"(anonymous namespace)::{name}(")
        check((row["bytes"], row["reserved_bytes"]) == (committed, reserved), f"{name}: {row}")
    (gate.folder / "stop").touch()
    record(gate, "m.recording", program=("map",))
    view = shown(gate, "recording", "show", "m.recording", "--group-by", "commit")
    commits = {(commit["bytes"], commit["decommit_ns"] is not None) for commit in view["largest_commits"]}
    for commit in ((512 * KIB, True), (256 * KIB, False), (128 * KIB, False), (32 * KIB, True), (32 * KIB, False)):
        check(commit in commits, f"no {commit} in {commits}")


@scenario
def code_takes_snapshots(gate):
    """leakgate::TakeSnapshot writes with the program's rights, replaces a file, and says why it cannot."""
    (gate.folder / "folder").mkdir()
    done = gate("run", "--report", "json=report.json", "--", gate.fixtures / "profiled.exe", "own")
    check(done.returncode == 0, f"exit code {done.returncode}", done)
    contains(done.stdout, "none/own.snapshot: No such file or directory; make its directory writable", "it is no name of a file")
    check(sorted(path.name for path in gate.folder.iterdir() if "snapshot" in path.name or "tmp" in path.name)
          == ["own.snapshot", "\u00e4.snapshot"], f"{list(gate.folder.iterdir())}")
    view = shown(gate, "snapshot", "show", "own.snapshot")
    check(of_site(view, "(anonymous namespace)::Keep")["blocks"] == 100, "other blocks")
    report = json.loads((gate.folder / "report.json").read_text())
    check(report["verdict"] == "pass", "a snapshot changes the verdict")


@scenario
def too_much_is_told_by_whom(gate):
    """A test over a limit on what it does is recorded, to tell who made it."""
    limits = {"component": "gate", "tests": ["Gate.*"], "limits": {"test": {"temporary": {"blocks": 0}}}}
    write(gate.folder, "gate.leakgate.json", limits)
    done = gate.run("suite.exe", "--budgets", "gate.leakgate.json", tests="Gate.Passes", expect=1)
    contains(done.stderr + done.stdout, "10 B in 1 block allocated for a moment only", "char* Make<10ull>()")


@scenario
def files_of_each_system_are_read(gate):
    """Those that tests/unit/snapshot/view/other_system_test.cpp tells of. Bundles have names, also of programs that are nowhere."""
    for system in ("linux", "windows"):
        for ending in (".zip", ".recording"):
            shutil.copy(FILES / (system + ending), gate.folder)
        view = shown(gate, "snapshot", "show", f"{system}.zip/{system}.snapshot")
        kept = of_site(view, "keep")
        check((kept["bytes"], kept["blocks"], kept["place"]) == (49 * 333, 49, "/tmp/demo/keeps.c:5"), f"{kept}")
        view = shown(gate, "recording", "show", system + ".recording")
        kept = [row["outstanding"]["blocks"] for row in rows(view, "site") if row["total"]["bytes"] == 50 * 333]
        check(kept == [49], f"{kept}")


@scenario
def what_is_not_there_is_refused(gate):
    """In one line, before anything runs."""
    with running(gate) as pid:
        for command in (("record", "-o", "r.recording", "--pid", pid),
                        ("snapshot", "config", "--pid", pid, "enable"), ("top", "web"), ("snapshot", "take", "--session", "web", "--pid", pid)):
            done = gate(*command)
            check(done.returncode == 2 and done.stderr.count("\n") == 1, f"{command}: exit code {done.returncode}", done)


if __name__ == "__main__":
    sys.exit(main(__doc__.split("\n\n")[0]))
