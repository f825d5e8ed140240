#!/usr/bin/env python3
"""Builds this project and runs CTest on it for real: what CTest shows of each test,
whatever its name, in both ways of discovery and with CTest's own options.

Usage: check.py --leakgate PATH --build FOLDER
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import xml.etree.ElementTree as xml

HERE = pathlib.Path(__file__).resolve().parent
CHECKOUT = HERE.parents[2]

NAMES = {
    "Plain.Passes": "passed", "Plain.Skips": "skipped", "Plain.Never": "disabled", "Suite.Never": "disabled",
    "Typed/an int; [really].Runs": "passed", "Typed/.Runs": "passed",
    "My/Pattern.Runs<int>": "passed", "My/Pattern.Runs<char>": "passed",
    'Of/Values.AreTold/"plain"': "passed", 'Of/Values.AreTold/"two words"': "passed",
    'Of/Values.AreTold/"a;b"': "passed", 'Of/Values.AreTold/"["': "passed",
    'Of/Values.AreTold/"]]==]"': "passed", r'''Of/Values.AreTold/"\"q\" 'q'"''': "passed",
    'Of/Values.AreTold/"# GetParam() = 1"': "passed", r'Of/Values.AreTold/"back\\slash"': "passed",
    'Of/Values.AreTold/"${HOME} @x@ $ENV{HOME}"': "passed", 'Of/Values.AreTold/"<&>"': "passed",
    r'Of/Values.AreTold/"line\nbreak"': "passed",
    "Both/Alike.AreToldApart/opaque": "passed", "Both/Alike.AreToldApart/1": "passed",
    "By/Named.KeepsItsName/Hand": "passed",
    r'''A suite; of [its] own.it's "quoted" # 5 - a:b, 100% \ $HOME ${X}''': "passed",
    'A suite; of [its] own.]==] leaks: - "it"': "failed", "Lines.one two": "passed",
}
# Found by ctest itself, with a filter, a prefix and a suffix, and the numbers of types and values.
FOUND_LATE = {
    "plain Plain.Passes (2)": "passed", "plain Plain.Skips (2)": "skipped", "plain Plain.Never (2)": "disabled",
    "plain My/Pattern.Runs<0> (2)": "passed", "plain My/Pattern.Runs<1> (2)": "passed",
    **{f"plain Of/Values.AreTold/{number} (2)": "passed" for number in range(11)},
}
BEHAVIOUR = {
    "Behaviour.Passes": "passed", "Behaviour.Leaks": "failed", "Behaviour.Fails": "failed",
    "Behaviour.Skips": "skipped", "Behaviour.SkipsAndLeaks": "failed",
    "Behaviour.ExitsAsIfSkipped": "failed", "Behaviour.PrintsAsIfSkipped": "passed",
    "Behaviour.Retains": "failed", "Budgeted.MayLeak": "passed",
    "Surroundings.AreThoseThatWereAskedFor": "passed",
}
ADDED = {"shard 0": "passed", "shard 1": "passed", "empty_shard": "skipped", "command": "passed",
         "whole_binary": "failed"}
# The summary is as the worst of the tests that ran.
GATE = {"leakgate.begin": "passed", "leakgate.summary": "passed"}
# A line of CMakeLists.txt, and what CMake says of it.
MISTAKES = {
    "leakgate_discover_tests(nothing)": "leakgate_discover_tests: nothing is no target",
    "leakgate_discover_tests(t BUDGET x)": "leakgate_discover_tests: unknown arguments: BUDGET;x",
    "leakgate_discover_tests(t CONFIRM soon)": "CONFIRM soon: no such way; write CONFIRM after, inline or off",
    "leakgate_discover_tests(t DISCOVERY_MODE LATE)": "unknown DISCOVERY_MODE LATE; write POST_BUILD or PRE_TEST",
    "leakgate_discover_tests(emulated)": "emulated runs in an emulator, where leakgate cannot trace it",
    "leakgate_add_test(NAME a)": "leakgate_add_test: NAME and COMMAND are required",
    "leakgate_add_test(NAME a COMMAND t CONFIRM no)": "leakgate_add_test: CONFIRM no: no such way",
    "set(LEAKGATE_EXECUTABLE \"\")\nleakgate_add_test(NAME a COMMAND t)":
        "leakgate's runner is not part of this build (LEAKGATE_BUILD_RUNNER=OFF): set LEAKGATE_EXECUTABLE",
}
FIXTURES = {**GATE, "leakgate.summary": "failed", "own.setup": "passed"}

problems = 0


def expect(what: str, actual: object, expected: object) -> None:
    global problems
    is_right = actual == expected
    print(f"{'ok   ' if is_right else 'WRONG'} {what}")
    if is_right:
        return
    problems += 1
    if isinstance(actual, dict) and isinstance(expected, dict):
        actual, expected = ({key: side.get(key) for key in {*actual, *expected}
                             if actual.get(key) != expected.get(key)} for side in (actual, expected))
    print(f"      is       {actual}\n      expected {expected}")


def run(*command: object, **variables: str) -> subprocess.CompletedProcess:
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("CTEST_", "GTEST_"))}
    return subprocess.run([str(word) for word in command], env={**environment, **variables},
                          capture_output=True, text=True, check=False)


def must(*command: object) -> None:
    done = run(*command)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}:\n{done.stdout}{done.stderr}")


class Project:
    def __init__(self, build: pathlib.Path, leakgate: pathlib.Path) -> None:
        self.build, self.leakgate = build, leakgate

    def make(self, *options: str) -> None:
        must("cmake", "-G", "Ninja", "-S", HERE, "-B", self.build, f"-DLEAKGATE_CHECKOUT={CHECKOUT}",
             "-DLEAKGATE_BUILD_RUNNER=OFF", f"-DLEAKGATE_EXECUTABLE={self.leakgate}", *options)
        must("cmake", "--build", self.build, "-j2")

    def ctest(self, *options: str, **variables: str) -> dict[str, str]:
        """What CTest shows of each test that it ran."""
        junit = self.build / "junit.xml"
        junit.unlink(missing_ok=True)
        done = run("ctest", "--test-dir", self.build, "--output-junit", junit, *options, **variables)
        if not junit.exists():
            sys.exit(f"ctest {options}:\n{done.stdout}{done.stderr}")
        return {case.get("name"): shown(case) for case in xml.parse(junit).getroot().findall("testcase")}

    def results(self) -> set[str]:
        folder = self.build / "leakgate-results"
        return {str(path.relative_to(folder)) for path in folder.rglob("*.json")}


def shown(case: xml.Element) -> str:
    if case.get("status") == "notrun":
        return "skipped" if "SKIP" in case.find("skipped").get("message") else "not run"
    return {"run": "passed", "fail": "failed", "disabled": "disabled"}[case.get("status")]


def measurements(build: pathlib.Path, test: str) -> dict[str, str]:
    tag = (build / "Testing/TAG").read_text().splitlines()[0]
    for found in xml.parse(build / "Testing" / tag / "Test.xml").iter("Test"):
        if found.findtext("Name") == test:
            return {entry.get("name"): entry.findtext("Value") for entry in found.iter("NamedMeasurement")
                    if entry.get("name", "").startswith("leakgate")}
    return {}


def has_attachment(build: pathlib.Path, test: str) -> bool:
    tag = (build / "Testing/TAG").read_text().splitlines()[0]
    tests = [found for found in xml.parse(build / "Testing" / tag / "Test.xml").iter("Test")
             if found.findtext("Name") == test]
    return any(entry.get("type") == "file" for found in tests for entry in found.iter("NamedMeasurement"))


def check_mistakes(folder: pathlib.Path) -> None:
    """CMake says each in a message of ours, which it breaks into lines."""
    folder.mkdir()
    for lines, message in MISTAKES.items():
        (folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(mistakes LANGUAGES NONE)\nadd_custom_target(t)\n"
            "add_custom_target(emulated)\nset_target_properties(emulated PROPERTIES CROSSCOMPILING_EMULATOR qemu)\n"
            f"set(LEAKGATE_EXECUTABLE leakgate)\ninclude({CHECKOUT}/cmake/LeakgateTests.cmake)\n{lines}\n")
        done = run("cmake", "-S", folder, "-B", folder / "build")
        said = " ".join(done.stderr.split())
        expect(f"a mistake: {lines.splitlines()[-1]}", (done.returncode, message in said or said), (1, True))

    settings = folder / "settings.cmake"
    settings.write_text(f"set(executable /bin/true)\nset(cmake cmake)\nset(WORKING_DIRECTORY {folder})\n"
                        f"set(DISCOVERY_TIMEOUT 5)\nset(tests_file {folder}/tests.cmake)\n")
    done = run("cmake", "-D", f"SETTINGS={settings}", "-P", CHECKOUT / "cmake/LeakgateDiscover.cmake")
    expect("a binary without GoogleTest", (done.returncode, "it must use GoogleTest" in done.stderr), (1, True))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--leakgate", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=lambda text: pathlib.Path(text).resolve(), required=True)
    options = parser.parse_args()
    shutil.rmtree(options.build, ignore_errors=True)
    project = Project(options.build, options.leakgate.resolve())
    project.make()
    check_mistakes(options.build / "mistakes")
    everything = {**NAMES, **FOUND_LATE, **BEHAVIOUR, **ADDED, **FIXTURES}

    stale = options.build / "leakgate-results/names_test/Gone.Test.json"
    stale.parent.mkdir(parents=True, exist_ok=True)
    stale.write_text("{}")
    expect("each test, -j2 and -T Test", project.ctest("-j2", "-T", "Test"), everything)
    ran = [name for name, state in everything.items() if state != "disabled" and name not in FIXTURES]
    expect("a result of each test that ran, and no other", len(project.results()), len(ran))
    expect("an earlier run's result is gone", stale.exists(), False)
    report = json.loads((options.build / "leakgate-results/behaviour_test/Behaviour.Leaks.json").read_text())
    expect("the result is of that test", [window["name"] for window in report["windows"]
                                          if window["kind"] == "test"], ["Behaviour.Leaks"])
    expect("GoogleTest's XML of each test", len(list((options.build / "xml").glob("*.xml"))), len(BEHAVIOUR) - 1)
    expect("measurements of a test that leaks", measurements(options.build, "Behaviour.Leaks"),
           {"leakgate outstanding bytes": "48", "leakgate outstanding blocks": "1", "leakgate lost bytes": "48"})
    expect("measurements of a test that does not", measurements(options.build, "Behaviour.Passes"),
           {"leakgate outstanding bytes": "0", "leakgate outstanding blocks": "0", "leakgate lost bytes": "0"})
    expect("no measurements unless asked for", measurements(options.build, "Plain.Passes"), {})
    expect("the result of a test that fails is attached", has_attachment(options.build, "Behaviour.Leaks"), True)
    expect("that of one that passes is not", has_attachment(options.build, "Behaviour.Passes"), False)

    summary = json.loads((options.build / "leakgate-summary.json").read_text())
    expect("all runs are in the summary", len(summary["runs"]), len(ran))
    expect("the summary is attached", has_attachment(options.build, "leakgate.summary"), True)

    failed = {name: state for name, state in everything.items() if state == "failed" and name not in FIXTURES}
    expect("--rerun-failed", project.ctest("--rerun-failed"), {**failed, **FIXTURES})
    expect("its results alone", len(project.results()), len(failed))
    expect("--repeat until-fail:3", project.ctest("--repeat", "until-fail:3", "-R", "Behaviour.(Passes|Skips$)"),
           {"Behaviour.Passes": "passed", "Behaviour.Skips": "skipped", **GATE, "own.setup": "passed"})
    expect("a label", project.ctest("-L", "all of it", "-j2"), {**BEHAVIOUR, **FIXTURES})
    expect("GoogleTest's shards in the environment share out no single test",
           project.ctest("-R", "^Plain.Passes$", GTEST_TOTAL_SHARDS="2", GTEST_SHARD_INDEX="1"),
           {"Plain.Passes": "passed", **GATE})

    project.make("-DDISCOVER_BUDGETS=not_there_yet")
    expect("a budget folder that is not there fails once", project.ctest("-R", "^Plain.(Passes|Skips)$"),
           {"Plain.Passes": "not run", "Plain.Skips": "not run", "leakgate.begin": "failed",
            "leakgate.summary": "failed"})
    said = run("ctest", "--test-dir", options.build, "-R", "leakgate.begin", "--output-on-failure").stdout
    expect("and says which", "not_there_yet: cannot be read: No such file" in said or said, True)
    project.make("-DDISCOVER_BUDGETS=")
    project.make("-DDISCOVER_MORE=ON")
    expect("a test that is new, in both ways of discovery", project.ctest("-R", "Plain.IsNew"),
           {"Plain.IsNew": "passed", "plain Plain.IsNew (2)": "passed", **GATE})
    listed = run("ctest", "--test-dir", options.build, "-N", "-V", "-R", "Behaviour.Passes").stdout
    expect("arguments that are new, of a binary that is not", "--gtest_random_seed=7" in listed, True)
    (options.build / "names_test").unlink()
    expect("a binary that is not built is no pass", project.ctest("-R", "names_test|Plain"),
           {"names_test_NOT_BUILT": "not run"})
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
