"""Pastes what leakgate offers to allow, and expects that run to be green, and nothing else.

Usage: remedies.py LEAKGATE FIXTURE...

Each fixture is run as it is, the entries of all its failing tests, from the JUnit report, are put into one budget
file, and the fixture is run with that. Then the entries of one test are left out: that test fails again.
"""

import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

# What is offered behind a place: an object, or a list of them without its brackets.
PLACE = re.compile(r'in (?:a new NAME\.leakgate\.json|"(\w+)" of [^:]+): (?=\{)')


def entries_in(text):
    """Yields the sections and their entries that a failure's text offers."""
    decoder = json.JSONDecoder()
    for offer in PLACE.finditer(text):
        at = offer.end()
        while text.startswith("{", at):
            value, at = decoder.raw_decode(text, at)
            if offer[1] is None:
                for section in ("allowances", "overrides"):
                    for entry in value.get(section, []):
                        yield section, entry
                if "limits" in value:
                    yield "limits", value["limits"]
            else:
                yield offer[1], value
            at += 2 if text.startswith(", {", at) else 0


def run(leakgate, fixture, folder, options):
    report = folder / "report.xml"
    summary = folder / "report.json"
    subprocess.run(
        [leakgate, "run", "--confirm-wait=0.05", f"--report=junit={report}", f"--report=json={summary}", *options,
         "--", *fixture], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    offered = {}
    for case in xml.etree.ElementTree.parse(report).getroot().iter("testcase"):
        failure = case.find("failure")
        if failure is not None and failure.get("type") == "leakgate.over_budget":
            offered[f"{case.get('classname')}.{case.get('name')}"] = list(entries_in(failure.text or ""))
    windows = json.loads(summary.read_text())["windows"]
    wrong = {window["name"] for window in windows if window.get("free_errors")}  # nothing may allow these
    failing = {(window["name"], window["kind"]) for window in windows if window["verdict"] == "over_budget"}
    return ({name: entries for name, entries in offered.items() if name not in wrong},
            {one for one in failing if one[0] not in wrong})


def budget_of(offered):
    budget = {"component": "all", "allowances": [], "overrides": []}
    for entries in offered.values():
        for section, entry in entries:
            if section == "limits":
                budget.setdefault("limits", {}).update(entry)
            elif entry not in budget[section]:
                budget[section].append(entry)
    return {key: value for key, value in budget.items() if value}


def check(leakgate, fixture, folder):
    offered, failing = run(leakgate, fixture, folder, [])
    problems = [f"{name}: nothing is offered" for name, entries in offered.items() if not entries]
    path = folder / "all.leakgate.json"
    path.write_text(json.dumps(budget_of(offered), indent=1))
    _, still = run(leakgate, fixture, folder, ["--budgets", str(path)])
    problems += [f"{kind} {name} still fails" for name, kind in sorted(still)]
    # What only one test's entries allow, no other's do: no entry for more covers it, too.
    def place(section, entry):
        return section, json.dumps({key: value for key, value in entry.items() if key not in ("bytes", "blocks")})
    counts = collections.Counter(one for entries in offered.values() for one in {place(*entry) for entry in entries})
    left = next((name for name, entries in sorted(offered.items())
                 if entries and all(counts[place(*one)] == 1 for one in entries)), None)
    if left is not None:
        path.write_text(json.dumps(budget_of({name: entries for name, entries in offered.items() if name != left})))
        _, failing_now = run(leakgate, [*fixture, f"--gtest_filter={left}"], folder, ["--budgets", str(path)])
        if not failing_now:
            problems.append(f"test {left} passes without an entry of its own")
    return len(failing), problems


def main():
    leakgate, *fixtures = sys.argv[1:]
    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        for fixture in fixtures:
            count, problems = check(leakgate, fixture.split(), pathlib.Path(scratch))
            print(f"{fixture}: {count} fail, {len(problems)} problems", flush=True)
            for problem in problems:
                print(f"  {problem}", flush=True)
            failed = failed or problems or count == 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
