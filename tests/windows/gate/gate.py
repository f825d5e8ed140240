#!/usr/bin/env python3
"""Runs leakgate.exe under Wine on suites of its own, as users do, and holds what it answers against what it must:
exit codes, verdicts, messages, reports, and that nothing is left behind.

Usage: gate.py --wine ci/wine --leakgate PATH --fixtures FOLDER [SCENARIO...]
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from harness import check, contains, either, is_running, main, scenario, wait_until, write


@scenario
def statics_are_retained(gate):
    """What static objects hold is never lost, whatever their destructors do; what a test lost is told beside it."""
    for program in ("statics.exe", "statics_own_main.exe"):
        gate.run(program, "--confirm", "off", expect=1)
        verdicts = {window["name"]: (window["verdict"], window["lost"]["bytes"])
                    for window in gate.report["windows"] if window["kind"] == "test"}
        for name, (verdict, lost) in verdicts.items():
            wanted = {"Static.MapHoldsAndOneIsLost": ("over_budget", 77), "Static.IsLostByTheNextTest": ("over_budget", 78),
                      "Static.LosesWhatTheTestBeforeHeld": ("pass", 0)}.get(name, ("unconfirmed", 0))
            check((verdict, lost) == wanted, f"{program}: {name}: {verdict}, {lost} bytes lost")


@scenario
def calls_of_windows(gate):
    """What Windows' own functions make, hold and free; the tests' names say what must be told."""
    gate.run("windows_calls.exe", "--confirm-wait", "0.05", tests="Cached.*")
    gate.run("windows_calls.exe", "--confirm", "off", tests="-Cached.*", expect=1)
    for window in (window for window in gate.report["windows"] if window["kind"] == "test"):
        name, lost = window["name"], window["lost"]["bytes"]
        number = int(re.search("[0-9]*$", name)[0] or lost)
        if name.startswith("Left"):
            check(window["outstanding"]["bytes"] == number and window["verdict"] != "pass", f"{name}: {window['verdict']}")
            continue
        check(lost == (number if name.startswith("Lost") else 0), f"{name}: {lost} bytes lost")
        check(not name.startswith("Lost") or lost > 0, f"{name}: nothing is lost")
        check(not name.startswith("Quiet") or window["verdict"] == "pass", f"{name}: {window['verdict']}")
        kinds = {finding["kind"] for finding in window["findings"] if lost and finding["bytes"] == lost}
        wanted = {"heap"} if name.startswith("Lost.") else {"new[]"} if lost else set()
        check(kinds == wanted, f"{name}: {kinds} instead of {wanted}")


@scenario
def ends_are_seen(gate):
    """Whatever way a program ends in order, what it held then is not lost, and what it lost is."""
    outcomes = {"keeps": (0, 0), "registers": (0, 0), "loses": (1, 7003), "ends_badly": (1, 7005)}
    for program in ("ends.exe", "ends_own_runtime.exe", "ends_untouched.exe"):
        for what, (code, lost) in outcomes.items():
            gate.run(program, arguments=(what, "return"), expect=code)
            found = gate.window(program)["lost"]["bytes"]
            check(found == lost, f"{program} {what}: {found} bytes lost")
    for how in ("exit", "_exit", "ExitProcess"):
        gate.run("ends.exe", arguments=("loses", how), expect=1)
        gate.run("ends.exe", arguments=("registers", how))
    for what in ("loses", "registers"):
        told = gate.run("ends_own_runtime_untouched.exe", arguments=(what, "return"), expect=3)
        contains(told.stderr, "its static objects may have been destroyed before its end was seen")
        told = gate.run("ends.exe", arguments=(what, "TerminateProcess"), expect=3)
        contains(told.stderr, "the program was ended by TerminateProcess")


@scenario
def untouched_programs_are_judged_whole(gate):
    """Without the listener there are no tests, but the program's window, and a line that says how to have them."""
    told = gate.run("suite_untouched.exe", tests="Gate.Passes:Gate.KeepsOnce")
    contains(told.stderr, "link leakgate::listener, or run each test in a process of its own (leakgate_discover_tests)")
    check([window["kind"] for window in gate.report["windows"]] == ["program"], "more than the program's window")
    gate.run("suite_untouched.exe", tests="Gate.Loses", expect=1)
    check(gate.window("suite_untouched.exe")["lost"]["bytes"] == 777, "777 bytes are lost")
    contains(gate("doctor", gate.fixtures / "suite_untouched.exe").stdout, "link leakgate::listener")


@scenario
def verdicts_by_test(gate):
    gate.run("suite.exe", tests="Gate.Passes:Gate.KeepsOnce")
    check(gate.window("Gate.KeepsOnce")["verdict"] == "pass", "built once")
    told = gate.run("suite.exe", tests="Gate.Loses", expect=1)
    contains(told.stdout, "777 B in 1 block lost", "suite.cpp:")
    gate.run("suite.exe", "--confirm-wait", "0.05", tests="Gate.Grows:Gate.PrintsMuch", expect=1)
    for test in ("Gate.Grows", "Gate.PrintsMuch"):
        check(gate.window(test)["verdict"] == "over_budget", f"{test} grows")
        check(gate.window(test)["lost"]["bytes"] == 0, f"{test} loses nothing")
    gate.run("suite.exe", tests="Gate.Fails", expect=1)
    gate.run("suite.exe", "--warn-only", tests="Gate.Loses")


@scenario
def budgets(gate):
    """Limits, overrides and allowances; a budget file's errors are told with their place, before anything runs."""
    plain = {"component": "gate", "limits": {"test": {"outstanding": {"bytes": 0}}}}
    write(gate.folder, "zero.leakgate.json", plain)
    told = gate.run("suite.exe", "--budgets", "zero.leakgate.json", tests="Gate.Loses:Gate.Passes", expect=1)
    contains(told.stdout, "777 B in 1 block outstanding, budget 0 B", "zero.leakgate.json")
    write(gate.folder, "override.leakgate.json",
          plain | {"overrides": [{"tests": ["Gate.Loses"], "limits": {"test": {"outstanding": {"bytes": 800}}}, "reason": "known"}]})
    gate.run("suite.exe", "--budgets", "override.leakgate.json", tests="Gate.Loses:Gate.Passes")
    write(gate.folder, "allowance.leakgate.json",
          plain | {"allowances": [{"stack": ["*Make<777*"], "bytes": 777, "blocks": 1, "reason": "known"}]})
    gate.run("suite.exe", "--budgets", "allowance.leakgate.json", tests="Gate.Loses:Gate.Passes")
    write(gate.folder, "wrong.leakgate.json", '{\n "component": "gate",\n "limit": {}\n}')
    told = gate.run("suite.exe", "--budgets", "wrong.leakgate.json", tests="Gate.Loses", expect=2)
    contains(told.stderr, "wrong.leakgate.json:3")
    check("Gate" not in told.stdout, "something ran", told)
    contains(gate("explain", "--budgets", "override.leakgate.json", "Gate.Loses", "--", gate.fixtures / "suite.exe").stdout, "800")


@scenario
def untold_limits_are_refused(gate):
    for name, text in {"threads": '{\n "component": "c",\n "binaries": ["*"],\n\n "threads": "test"}',
                       "file_descriptors": '{\n "component": "c",\n "limits": {"test": {\n  "file_descriptors": 0}}\n}',
                       "mapped": '{\n "component": "c",\n "limits": {"test": {\n  "mapped": {"bytes": 0}}}\n}',
                       "processes": '{\n "component": "c",\n "limits": {"process": {"outstanding": {"bytes": 0}}},\n'
                                    ' "processes": ["a.exe"]\n}'}.items():
        write(gate.folder, f"{name}.leakgate.json", text)
        told = gate.run("suite.exe", "--budgets", f"{name}.leakgate.json", tests="Gate.Passes", expect=2)
        place = "" if name == "threads" else ":4"
        contains(told.stderr,
                 f"{name}.leakgate.json{place}: \"{name}\": leakgate does not tell that on this system; leave it out")
        check("Gate" not in told.stdout, "something ran", told)


@scenario
def bad_input(gate):
    for arguments, said in ((("run", "--", "nowhere.exe"), "not found"),
                            (("run",), "no program"),
                            (("run", "--report", "nothing=x", "--", gate.fixtures / "suite.exe"), "nothing"),
                            (("run", "--timeout", "soon", "--", gate.fixtures / "suite.exe"), "soon"),
                            (("run", "--budgets", "none.json", "--", gate.fixtures / "suite.exe"), "none.json"),
                            (("run", "/help"), "/help")):
        done = gate(*arguments)
        check(done.returncode == 2, f"{arguments}: exit code {done.returncode}", done)
        contains(done.stderr, said)
    write(gate.folder, "text.exe", "no program")
    check(gate("run", "--", ".\\text.exe").returncode in (2, 3), "a text is no program")


@scenario
def paths_after_options(gate):
    """A path that begins with a slash is no option."""
    gate.run("suite.exe", tests="Gate.Passes")
    done = gate("merge", gate.folder / "report.json", "--report", f"json={gate.folder}/merged.json")
    check(done.returncode == 0 and (gate.folder / "merged.json").exists(), "the report is not read", done)


@scenario
def crashes_and_ends(gate):
    """The region is read after a crash; nothing passes then; the program's own exit code is passed on."""
    told = gate.run("suite.exe", tests="Gate.Crashes:Gate.Passes", expect=0xC0000005 & 0xFF)  # of which Wine passes on 8 bits
    contains(told.stderr, "the program was ended by exception 0xC0000005", "inconclusive: the program ended while the test ran")
    check(gate.window("Gate.Crashes")["verdict"] == "inconclusive", "nothing that crashed passes")
    check(gate.window("Gate.Passes")["verdict"] == "pass", "what ended before it was judged")
    gate.run("suite.exe", tests="Gate.Exits42", expect=42)
    told = gate.run("suite.exe", "--timeout", "3", tests="Gate.Passes:Gate.Hangs", expect=3)
    contains(told.stderr, "the timeout of 3 s was reached while this test ran: Gate.Hangs")
    check(wait_until(lambda: not is_running("suite.exe")), "the program still runs")


@scenario
def tests_in_other_processes(gate):
    """What a program starts is not traced. Where tests ran there, and no test had started them, nothing passes."""
    shutil.copy(gate.fixtures / "suite.exe", gate.folder)
    gate.run("suite.exe", tests="Gate.StartsAnother:Gate.DiesInAnother")
    told = gate("run", "--", "cmd", "/c", "suite.exe", "--gtest_filter=Gate.Passes")
    check(told.returncode == 3, f"exit code {told.returncode}", told)
    contains(told.stderr, "suite.exe were not gated: cmd.exe started it as another process")
    told = gate("run", "--", "cmd", "/c", "suite.exe", "--gtest_list_tests")
    check(told.returncode == 0, f"exit code {told.returncode}", told)
    told = gate("run", "--", "cmd", "/c", gate.leakgate, "run", "--", "suite.exe", "--gtest_filter=Gate.Passes")
    check("not gated" not in told.stderr, "another leakgate gates it", told)
    told = gate.run("starts.exe", arguments=("suite.exe --gtest_filter=Gate.Passes",), expect=3)
    untraced = "could not be judged: what a program starts is not traced on this system; run leakgate on it"
    either(told.stderr, f"the process suite.exe {untraced}", f"the process of an unknown program {untraced}")
    gate.run("starts.exe", arguments=("cmd.exe /c exit",))


@scenario
def processes_that_have_ended_are_known(gate):
    """What the program itself started is known even where it had gone before the runner could look."""
    shutil.copy(gate.fixtures / "suite.exe", gate.folder)
    untraced = "could not be judged: what a program starts is not traced on this system; run leakgate on it"
    passes = "--gtest_filter=Gate.Passes"
    known, unknown = f"the process suite.exe {untraced}", f"the process of an unknown program {untraced}"
    for line, doubt in (("cmd.exe /c exit", None), ("suite.exe --gtest_list_tests", None), ("suite.exe --help", None),
                        (f"suite.exe {passes}", known), (f"suite.exe --gtest_list_tests --gtest_list_tests=0 {passes}", known),
                        (f'suite.exe "{passes}: --gtest_list_tests"', known), (f'suite.exe {passes} "a"" --gtest_list_tests"', known),
                        (f"suite.exe {passes} {1100 * 'x'} --gtest_list_tests", known),
                        # What that starts in turn is not noted.
                        (f"cmd.exe /c suite.exe {passes}", unknown)):
        told = gate.run("starts.exe", arguments=("unseen", line), expect=0 if doubt is None else 3)
        check(doubt is None or doubt in told.stderr, f"{line}: no {doubt!r}", told)


@scenario
def debug_runtime(gate):
    """The debug runtime's list of all blocks holds none, and its headers are no part of them."""
    # Where it is linked in, names tell the header, which the fake lacks.
    for program, header in (("debug_runtime.exe", 0), ("debug_runtime_linked_in.exe", 52)):
        gate.run(program, "--confirm", "off", expect=1)
        block = 24 + header
        found = {window["name"]: (window["verdict"], window["lost"]["blocks"], window["lost"]["bytes"], window["outstanding"]["bytes"])
                 for window in gate.report["windows"] if window["kind"] == "test"}
        check(found == {"Debug.FreesAll": ("pass", 0, 0, 0), "Debug.Loses": ("over_budget", 1, block, block),
                        "Debug.LosesAList": ("over_budget", 3, 3 * block, 3 * block), "Debug.Keeps": ("pass", 0, 0, 2 * block),
                        "Debug.FreesWhatWasKept": ("pass", 0, 0, 0)}, f"{program}: {found}")
        [lost] = gate.window("Debug.Loses")["findings"]
        told = b"a node".hex() + "00" + "cd" * (1 if header else 9)
        check(lost["contents"].endswith(told), lost["contents"])


@scenario
def reports(gate):
    done = gate("run", "--report", "json=r.json", "--report", "junit=r.xml", "--report", "sarif=r.sarif", "--report", "html=r.html",
                "--", gate.fixtures / "suite.exe", "--gtest_filter=Gate.Loses:Gate.Passes")
    check(done.returncode == 1, "over budget", done)
    junit = xml.etree.ElementTree.parse(gate.folder / "r.xml").getroot()
    check(len(list(junit.iter("failure"))) >= 1, "JUnit has the failure")
    sarif = json.loads((gate.folder / "r.sarif").read_text())
    check(len(sarif["runs"][0]["results"]) >= 1, "SARIF has the result")
    check("777" in (gate.folder / "r.html").read_text(encoding="utf-8"), "the page has the leak")


@scenario
def baselines_and_merges(gate):
    """A second run against the first one's report is green; two reports are merged; adopt makes a suite green."""
    gate.run("suite.exe", tests="Gate.Loses", expect=1)
    shutil.copy(gate.folder / "report.json", gate.folder / "before.json")
    gate.run("suite.exe", "--baseline", "before.json", tests="Gate.Loses")
    gate.run("suite.exe", tests="Gate.Passes")
    done = gate("merge", "before.json", "report.json", "--report", "json=merged.json")
    check(done.returncode in (0, 1) and (gate.folder / "merged.json").exists(), f"merge: {done.returncode}", done)
    done = gate("adopt", gate.fixtures / "statics.exe")
    check(done.returncode == 0, f"adopt: {done.returncode}", done)
    gate.run("statics.exe", "--baseline", "leakgate-baseline.json")


@scenario
def odd_paths(gate):
    """Paths with spaces and umlauts: of leakgate, of the program, of budgets and of reports."""
    odd = gate.folder / "Prüf ordner ß"
    (odd / "bin").mkdir(parents=True)
    for file in (gate.leakgate, gate.leakgate.parent / "leakgate_agent64.dll"):
        shutil.copy(file, odd / "bin")
    shutil.copy(gate.fixtures / "suite.exe", odd / "Größen test.exe")
    write(odd, "zürich.leakgate.json", {"component": "gate", "binaries": ["GRÖßEN TEST.EXE"], "limits": {"test": {"outstanding": {"bytes": 0}}}})
    gate.leakgate = odd / "bin/leakgate.exe"
    done = gate("run", "--budgets", odd / "zürich.leakgate.json", "--report", f"json={odd}/bericht ü.json", "--",
                odd / "Größen test.exe", "--gtest_filter=Gate.Loses")
    check(done.returncode == 1, f"exit code {done.returncode}", done)
    contains(done.stdout, "777 B in 1 block outstanding", "zürich.leakgate.json")
    report = json.loads((odd / "bericht ü.json").read_text(encoding="utf-8"))
    check(report["binary"].endswith("Größen test.exe"), report["binary"])


@scenario
def long_paths(gate):
    """Paths beyond MAX_PATH, plain and with the prefix: of budgets and of reports. Wine starts no program from one."""
    far = gate.folder.joinpath(*(f"{number}-" + 60 * "x" for number in range(6)))
    far.mkdir(parents=True)
    write(far, "far.leakgate.json", {"component": "gate", "limits": {"test": {"outstanding": {"bytes": 0}}}})
    windows = "Z:" + str(far).replace("/", "\\")
    for begin in (str(far) + "/", windows + "\\", "\\\\?\\" + windows + "\\"):
        done = gate("run", "--budgets", begin + "far.leakgate.json", "--report", f"json={begin}report.json", "--report",
                    f"html={begin}report.html", "--confirm-wait", "0.05", "--", gate.fixtures / "suite.exe", "--gtest_filter=Gate.Loses:Gate.Grows")
        check(done.returncode == 1, f"{begin}: exit code {done.returncode}", done)
        contains(done.stdout, "777 B in 1 block outstanding", "far.leakgate.json", "suite.cpp:")
        report = json.loads((far / "report.json").read_text(encoding="utf-8"))
        check(report["verdict"] == "failed", report["verdict"])
        done = gate("merge", begin + "report.json", "--report", f"junit={begin}merged.xml")
        check((far / "merged.xml").exists(), "merge", done)
        for name in ("report.json", "report.html", "merged.xml"):
            (far / name).unlink()
    check(gate.left() == [], f"left: {gate.left()}")


@scenario
def nothing_is_left(gate):
    """Neither files nor processes stay, also where the runner is killed while tests run or are repeated."""
    gate.run("suite.exe", "--confirm-wait", "0.05", tests="Gate.Grows", expect=1)
    check(gate.left() == [], f"left: {gate.left()}")
    name = "only_here.exe"
    shutil.copy(gate.fixtures / "suite.exe", gate.folder / name)
    runner = subprocess.Popen(gate.command("run", "--", gate.folder / name, "--gtest_filter=Gate.StartsAnotherAndHangs"),
                              cwd=gate.folder, env=gate.environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    while b"started" not in runner.stdout.readline():
        pass
    check(is_running(name), "the program runs")
    runner.kill()
    runner.wait()
    check(wait_until(lambda: not is_running(name)), "the program outlives its runner")
    check(wait_until(lambda: not is_running("ping")), "what it started outlives it")
    check(gate.left() == [], f"left: {gate.left()}")


@scenario
def interrupts(gate):
    """Ctrl-C ends the program and all that it started, and the runner, which says so, also while tests are repeated. Wine's own
    programs end with 0 then, Windows' with 0xC000013A."""
    name = "only_here.exe"
    shutil.copy(gate.fixtures / "suite.exe", gate.folder / name)
    for options, test, sign, later_ms in (([], "Gate.StartsAnotherAndHangs", "started", "0"),
                                          (["--confirm-wait", "20"], "Gate.Grows", "PASSED", "2000")):
        line = " ".join(["Z:" + str(gate.leakgate), "run", *options, "--report", "json=c.json", "--", ".\\" + name, f"--gtest_filter={test}"])
        done = subprocess.run([gate.wine, gate.fixtures / "interrupts.exe", sign, later_ms, line], cwd=gate.folder, env=gate.environment(),
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
        told = done.stderr.decode("utf-8", "replace")
        check("exit code" in told and "exit code 0\n" not in told.replace("\r", ""), f"it passes:\n{done.stdout}\n{told}")
        if sign == "started":
            contains(told, f"the program ended while the test ran ({test})")
            report = json.loads((gate.folder / "c.json").read_text())
            check(report["verdict"] == "inconclusive", report["verdict"])
        check(wait_until(lambda: not is_running(name)), "the program still runs")
        check(wait_until(lambda: not is_running("ping")), "what it started still runs")
        check(gate.left() == [], f"left: {gate.left()}")


if __name__ == "__main__":
    sys.exit(main(__doc__.split("\n\n")[0]))
