#!/usr/bin/env python3
"""Runs `leakgate run --engine etw` under Wine: with a fake kernel that tells of the program's heap what the program tells it,
and with Wine's own event tracing, which traces nothing.

Usage: command.py --wine ci/wine --leakgate PATH --fake PATH --fixtures FOLDER [SCENARIO...]
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from harness import Gate, check, contains, is_running, wait_until, write  # noqa: E402

SCENARIOS = {}


def scenario(function):
    SCENARIOS[function.__name__] = function
    return function


class EtwGate(Gate):
    """leakgate.exe with the fake kernel; in `real` the one without."""

    def __init__(self, options, folder: pathlib.Path):
        super().__init__(options, folder)
        self.real, self.leakgate, self.kernel = options.leakgate, options.fake, ""

    def environment(self) -> dict:
        events = "Z:" + str(self.folder / "events").replace("/", "\\")
        return {**super().environment(), "LEAKGATE_FAKE_TRACE": events, "LEAKGATE_FAKE_KERNEL": self.kernel}

    def trace(self, *deeds: str, kernel="", options=(), expect=0):
        """Runs the program with its deeds. The JSON report is in self.report."""
        self.kernel = kernel
        (self.folder / "events").unlink(missing_ok=True)
        return self.run("etw_program.exe", "--engine", "etw", *options, arguments=deeds, expect=expect)

    def findings(self) -> list[dict]:
        """Those of the program's window that are the user's."""
        return [finding for finding in self.report["windows"][0]["findings"] if finding.get("disposition") != "framework"]


def frames(finding: dict) -> list[str]:
    return [frame["function"] for frame in finding["stack"]]


@scenario
def passes_what_is_freed_and_held(gate):
    """Nothing fails a program that loses nothing. Its blocks are in the report."""
    done = gate.trace("free", "heap", "hold", "hold_by_thread", "keep_for_ever", "many")
    check("begun\ndone\n" in done.stdout, done.stdout)
    window = gate.report["windows"][0]
    check(gate.report["verdict"] == "pass" and window["kind"] == "program", gate.report["verdict"])
    check(window["outstanding"] == {"bytes": 444 + 445 + 556, "blocks": 3}, f"{window['outstanding']}")
    check(window["lost"]["blocks"] == 0, f"{window['lost']}")
    check(window["allocated"] == {"bytes": 10 + 900 + 444 + 445 + 556 + 5000 * 64, "blocks": 5005}, f"{window['allocated']}")


@scenario
def fails_what_is_lost(gate):
    """Lost blocks fail, with their call stacks by lines, and those that only lost ones lead to are told with them."""
    done = gate.trace("hold", "lose", "chain", "thread", expect=1)
    check(gate.report["verdict"] == "failed", gate.report["verdict"])
    lost = {finding["bytes"]: finding for finding in gate.findings() if finding.get("reach") == "lost"}
    check(sorted(lost) == [333, 401, 500 + 501], f"{[(finding['bytes'], finding.get('reach')) for finding in gate.findings()]}")
    functions = frames(lost[333])
    contains(" ".join(functions), "Lose", "Do", "main")
    check("RtlAllocateHeap" not in functions, f"{functions}")
    frame = next(frame for frame in lost[333]["stack"] if "Lose" in frame["function"])
    check(frame["file"].endswith("program.cpp") and frame["line"] > 0, f"{frame}")
    contains(done.stderr, "333 B", "lost")
    check(gate.report["windows"][0]["lost"] == {"bytes": 333 + 401 + 500 + 501, "blocks": 4}, f"{gate.report['windows'][0]['lost']}")


@scenario
def agrees_with_the_agent(gate):
    """What is lost is the same for both, in blocks and bytes, however the program ends. (What an ended thread has lost is not here:
    in doubt the agent takes it for held.)"""
    for deeds in (["hold", "lose", "chain", "library"], ["keep", "keep_for_ever", "hold_by_thread", "free", "many"],
                  ["lose", "exit_process"], ["keep_for_ever", "lose", "immediate"], ["heap", "chain", "fail"]):
        lost = []
        for leakgate, engine in ((gate.leakgate, "etw"), (gate.real, "agent")):
            gate.leakgate, fake = leakgate, gate.leakgate
            done = gate("run", "--engine", engine, "--report", "json=report.json", "--", gate.fixtures / "etw_program.exe", *deeds)
            gate.leakgate = fake
            (gate.folder / "events").unlink()
            lost.append((done.returncode, json.loads((gate.folder / "report.json").read_text())["windows"][0]["lost"]))
        check(lost[0] == lost[1], f"{deeds}: {lost}")


@scenario
def leaves_out_what_the_system_has_for_itself(gate):
    """A block that Windows has allocated for itself is no finding of the program's."""
    gate.trace("system")
    window = gate.report["windows"][0]
    check(window["outstanding"]["blocks"] == 0 and window["framework"]["bytes"] == 888, f"{window}")


@scenario
def judges_by_budgets(gate):
    """Limits, patterns, allowances and owners as with the agent."""
    budget = {"component": "made", "owner": "team-x", "limits": {"program": {"outstanding": {"bytes": 0}}}}
    path = write(gate.folder, "made.leakgate.json", budget)
    gate.trace("hold", "free", options=("--budgets", path), expect=1)
    violation = gate.report["windows"][0]["violations"][0]
    check(violation["actual"] == 444, f"{violation}")
    check(gate.report["windows"][0]["owner"] == "team-x", f"{gate.report['windows'][0]['owner']}")
    gate.trace("keep", "free", options=("--budgets", path))
    budget["allowances"] = [{"stack": ["*Hold"], "bytes": 444, "reason": "kept on purpose"}]
    write(gate.folder, "made.leakgate.json", budget)
    gate.trace("hold", options=("--budgets", path))


@scenario
def refuses_budgets_of_what_is_not_told(gate):
    """A limit that nothing is compared with would let everything pass."""
    amount = {"outstanding": {"bytes": 0}}
    for more, key in (({"limits": {"test": amount}}, "test"), ({"limits": {"suite": amount}}, "suite"),
                      ({"limits": {"program": {"temporary": {"blocks": 5}}}}, "temporary"),
                      ({"overrides": [{"tests": ["A.*"], "limits": {"test": amount}, "reason": "r"}]}, "test")):
        path = write(gate.folder, "a.leakgate.json", {"component": "a", **more})
        done = gate("run", "--engine", "etw", "--budgets", path, "--", gate.fixtures / "etw_program.exe")
        check(done.returncode == 2 and "begun" not in done.stdout, f"{more}: {done.returncode}", done)
        contains(done.stderr, f'"{key}": Windows\' heap tracing does not tell that; leave it out')


@scenario
def compares_with_a_baseline(gate):
    """What an earlier report has is known."""
    gate.trace("lose", expect=1)
    baseline = write(gate.folder, "baseline.json", json.dumps(gate.report))
    gate.trace("lose", options=("--baseline", baseline))
    gate.trace("lose", "chain", options=("--baseline", baseline), expect=1)


@scenario
def names_modules_that_have_gone(gate):
    """A library's functions are named though it was unloaded before the program's end."""
    gate.trace("library", expect=1)
    finding = next(finding for finding in gate.findings() if finding["bytes"] == 777)
    contains(" ".join(frames(finding)), "LoseInLibrary", "LoseByLibrary")


@scenario
def tells_how_the_program_ended(gate):
    """Held where it ends by itself, in whatever way. Of one that is terminated, what is lost cannot be told."""
    gate.trace("lose", "exit_process", expect=1)
    gate.trace("lose", "immediate", expect=1)
    gate.trace("hold", "exit_process")
    gate.trace("lose", "exit_twice", expect=1)
    gate.trace("hold", "leave", "ping -n 30 127.0.0.1")
    gate.trace("hold", "fail", expect=7)
    done = gate.trace("hold", "terminate", expect=3)
    contains(done.stderr, "TerminateProcess")
    gate.trace("hold", "crash", expect=0xC0000005 & 0xFF)
    gate.trace("hold", "break", expect=0x80000003 & 0xFF)


@scenario
def tells_nothing_lost_of_a_runtime_that_is_linked_in(gate):
    """Its statics are destroyed before the end is seen. A limit on what is outstanding can be judged."""
    program, options = "etw_program_own_runtime.exe", ("--engine", "etw")
    done = gate.run(program, *options, arguments=["keep_for_ever"], expect=3)
    contains(done.stderr, "its runtime is linked into it", "let leakgate's agent trace")
    for deed, code in (("hold", 1), ("keep", 0)):
        (gate.folder / "events").unlink()
        budget = write(gate.folder, "a.leakgate.json", {"component": "a", "limits": {"program": {"outstanding": {"bytes": 0}}}})
        gate.run(program, *options, "--budgets", budget, arguments=[deed], expect=code)


def interrupted(gate, deeds: str, seen: str, later_ms: str) -> str:
    """What a run says that gets Ctrl-C as long after it, or its program, has said `seen`."""
    program = "Z:" + str(gate.fixtures / "etw_program.exe")
    line = " ".join(["Z:" + str(gate.leakgate), "run", "--engine", "etw", "--", program, deeds])
    interrupts = gate.fixtures.parent / "gate" / "interrupts.exe"
    done = subprocess.run([gate.wine, interrupts, seen, later_ms, line], cwd=gate.folder, env=gate.environment(), stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=100, check=False)
    told = done.stderr.decode("utf-8", "replace").replace("\r", "")
    check("exit code" in told, f"no end:\n{done.stdout}\n{told}")
    check(wait_until(lambda: not is_running("etw_program.exe")), "the program still runs")
    return told


@scenario
def ends_by_an_interrupt(gate):
    """Ctrl-C ends the program, and with it the run. (Wine's programs end with 0 then, as if they had ended by themselves.)"""
    interrupted(gate, "hold sleep", "begun", "500")


@scenario
def leaves_no_session_wherever_it_is_interrupted(gate):
    """As the session starts, before the program runs, while the program is held and judged, in the second session, and after the end."""
    gate.trace("hold")
    names = (gate.folder / "events.calls").read_text().splitlines()
    check(names.count("start") == 2 and names[0] == "start" and names[-1] == "close", f"{names}")
    stop, second = names.index("stop"), names.index("start", 1)
    for number in (0, 2, stop, second, len(names) - 2):
        for file in ("events", "events.calls"):
            (gate.folder / file).unlink(missing_ok=True)
        gate.kernel = f"linger_at={number + 1}"
        told = interrupted(gate, "hold sleep_not", "lingers", "200")
        calls = (gate.folder / "events.calls").read_text().splitlines()
        for begin, end in (("start", "stop"), ("open", "close")):
            check(calls.count(begin) == calls.count(end) > 0, f"at {names[number]}: {calls}\n{told}")
        if number < stop:
            contains(told, "interrupted before the program began; nothing of it was run", "exit code 3")
            check("begun" not in told, f"it ran: {told}")


@scenario
def is_inconclusive_by_any_loss(gate):
    """Whatever the system does not tell makes the run inconclusive, and says what it was."""
    for kernel, told in (("lost_events=5", "5 events lost"), ("lost_buffers=2", "2 buffers lost"),
                         ("lost_real_time_buffers=1", "1 buffer lost"), ("second_lost_events=3", "3 events lost"),
                         ("lost_in_stream", "1 buffer lost"), ("cut", "1 event cut short"),
                         ("without_stacks", "1 live block without a stack"), ("ends_early", "ended before the program did"),
                         ("stop_error=4201", "ended before the program did (error 4201)"),
                         ("second_start_error=183", "another recording")):
        done = gate.trace("hold", kernel=kernel, expect=3)
        contains(done.stderr, told, "let leakgate's agent trace" if "ended" not in told else "no other program stops")
        check(gate.report["verdict"] == "inconclusive", gate.report["verdict"])
    contains(gate.trace("sleep_not", expect=3).stderr, "told nothing of the program")
    gate.trace("hold", "free", kernel="reordered")
    gate.trace("hold", "lose", kernel="reordered", expect=1)


@scenario
def runs_nothing_where_it_cannot_trace(gate):
    """Errors of the start are told before the program's first instruction, each with a remedy."""
    for kernel, told in (("start_error=183", "another recording"), ("start_error=1004", "flags"), ("start_error=14", "no memory"),
                         ("start_error=5", "administrators"), ("start_error=24", "error 24"), ("update_error=5", "cannot limit"),
                         ("silent", "told nothing"), ("missing", "install the Windows Performance Toolkit"),
                         ("plain start_error=5", "administrators"), ("plain silent", "told nothing")):
        done = gate.trace("lose", kernel=kernel, expect=3)
        contains(done.stderr, told, "let leakgate's agent trace")
        check("begun" not in done.stdout, f"{kernel}: it ran")


@scenario
def does_without_the_performance_toolkit(gate):
    """StartTrace takes the place of StartHeapTrace."""
    gate.trace("hold", "lose", kernel="plain", expect=1)
    gate.trace("hold", kernel="plain")
    done = gate.trace("hold", kernel="plain second_lost_events=1", expect=3)
    contains(done.stderr, "events lost")


@scenario
def notices_tests_in_other_processes(gate):
    """Their heaps are not traced. A program that is no test binary passes by others that run no tests."""
    tests, name = gate.fixtures / "etw_tests.exe", "etw_tests.exe"
    done = gate.trace("free", "start", "Z:" + str(tests).replace("/", "\\"), expect=3)
    contains(done.stderr, f"{name} were not gated", "run leakgate on the test binary itself")
    gate.trace("free", "start", "cmd.exe /c exit")
    done = gate.run(name, "--engine", "etw", expect=0)
    contains(done.stderr, "tells no tests apart", "judged as a whole")


@scenario
def ends_what_takes_too_long(gate):
    """The program is killed, and the run is inconclusive."""
    done = gate.trace("hold", "sleep", options=("--timeout", "5"), expect=3)
    contains(done.stderr, "the timeout of 5 s was reached")
    check("done" not in done.stdout, done.stdout)


@scenario
def refuses_programs_of_other_processors(gate):
    """By one line, before a session is started."""
    program = bytearray((gate.fixtures / "etw_program.exe").read_bytes())
    header = int.from_bytes(program[0x3C:0x40], "little")
    for machine in (0x14C, 0xAA64):  # of 32 bits, and ARM64
        program[header + 4 : header + 6] = machine.to_bytes(2, "little")
        (gate.folder / "other.exe").write_bytes(program)
        done = gate("run", "--engine", "etw", "--", gate.folder / "other.exe")
        check(done.returncode == 3 and done.stderr.count("\n") == 1, f"{machine:#x}: {done.returncode}", done)
        contains(done.stderr, "other.exe: cannot be traced: it is built for", "build the tests for x86-64")
        check(not (gate.folder / "events.calls").exists(), "a session was started")


@scenario
def refuses_what_needs_the_agent(gate):
    """Each option that makes no sense is told in one line, before anything runs."""
    for option in ("--confirm=off", "--confirm-time=1", "--confirm-test-timeout=1", "--confirm-run-timeout=1", "--confirm-wait=1",
                   "--plant-leak", "--stack-depth=5", "--allow-no-tests", "--skip-exit-code=77", "--ctest-measurements"):
        done = gate("run", "--engine", "etw", option, "--", gate.fixtures / "etw_program.exe")
        check(done.returncode == 2 and "begun" not in done.stdout, f"{option}: {done.returncode}", done)
        contains(done.stderr, option.split("=")[0], "--engine etw", "; leave one out")
        check(done.stderr.count("\n") == 1, done.stderr)
    done = gate("run", "--engine", "etww", "--", gate.fixtures / "etw_program.exe")
    check(done.returncode == 2 and "write --engine=agent or etw" in done.stderr, "no such engine", done)


@scenario
def is_inconclusive_where_the_system_traces_nothing(gate):
    """Wine starts sessions that tell nothing, or cannot read them."""
    gate.leakgate = gate.real
    done = gate.trace("lose", expect=3)
    contains(done.stderr, "Windows' heap", "let leakgate's agent trace")
    check("begun" not in done.stdout, "it ran")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    for name in ("wine", "leakgate", "fake", "fixtures"):
        parser.add_argument(f"--{name}", required=True, type=lambda path: pathlib.Path(path).absolute())
    parser.add_argument("scenarios", nargs="*", choices=[*SCENARIOS, []], help="default: all")
    options = parser.parse_args()
    wrong = 0
    for name in options.scenarios or SCENARIOS:
        with tempfile.TemporaryDirectory(prefix="leakgate-etw-") as folder:
            try:
                SCENARIOS[name](EtwGate(options, pathlib.Path(folder)))
                print(f"etw: {name}: ok", flush=True)
            except (AssertionError, KeyError, StopIteration, OSError) as error:
                wrong += 1
                print(f"etw: {name}: {type(error).__name__}: {error}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
