"""What is known of the real suites, and how an outcome differs from it.

expected.json: each verdict that is over budget, examined: `site` is where it was allocated, `judged`
a real leak or a false alarm, `why` the reason, with the source line. Where it is judged unconfirmed,
no repetition could tell, and `why` says what stood in its way. `modes` are those in which it is so; without
it, all are. references/SUITE.json: the leaks that
LeakSanitizer and valgrind find.
"""
import json

from outcome import Outcome, Test
from suites import HERE, Suite

REAL_LEAK = "real leak"
FALSE_ALARM = "false alarm"
UNCONFIRMED = "unconfirmed"


def expected_of(suite: Suite, mode: str = "") -> list[dict]:
    """In that mode, or in any."""
    left_out = suite.not_alone if mode == "ctest" else ()
    entries = json.loads((HERE / "expected.json").read_text()).get(suite.name, [])
    return [entry for entry in entries
            if entry["binary"] not in left_out and (not mode or mode in entry.get("modes", (mode,)))]


def reference_leaks(suite: Suite) -> list[dict]:
    path = HERE / "references" / f"{suite.name}.json"
    return json.loads(path.read_text()) if path.exists() else []


def is_found(suite: Suite, leak: dict, tests: list[Test]) -> bool:
    """On the right test, from the same line: what the two call the call site may differ."""
    line = (str(suite.source / leak["file"]), leak["line"])
    return any(test.key == (leak["binary"], leak["test"]) and (not leak["file"] or line in test.frames)
               for test in tests)


def missed(suite: Suite, outcome: Outcome) -> list[dict]:
    return [leak for leak in reference_leaks(suite) if not is_found(suite, leak, outcome.over_budget)]


def unexpected(suite: Suite, outcome: Outcome) -> list[str]:
    known = {(entry["binary"], entry["test"], entry["site"]) for entry in expected_of(suite, outcome.mode)
             if entry["judged"] != UNCONFIRMED}
    return [f"{test.binary}: {test.name} is over budget by {site}, and expected.json does not say why"
            for test in outcome.over_budget for site in sorted(test.sites) if (*test.key, site) not in known]


def absent(suite: Suite, outcome: Outcome) -> list[str]:
    found = {(*test.key, site) for test in outcome.over_budget for site in test.sites}
    return [f"{entry['binary']}: {entry['test']} is not over budget by {entry['site']}, as expected.json says"
            for entry in expected_of(suite, outcome.mode)
            if entry["judged"] != UNCONFIRMED and (entry["binary"], entry["test"], entry["site"]) not in found]


def other_verdicts(suite: Suite, outcome: Outcome) -> list[str]:
    known = {(entry["binary"], entry["test"]) for entry in expected_of(suite, outcome.mode) if entry["judged"] == UNCONFIRMED}
    found = {test.key for test in outcome.tests if test.verdict == UNCONFIRMED}
    problems = [f"{test.binary}: {test.name} is {test.verdict}" for test in outcome.tests
                if test.verdict not in ("pass", "over_budget", UNCONFIRMED)]
    problems += [f"{binary}: {name} is unconfirmed, and expected.json does not say why"
                 for binary, name in sorted(found - known)]
    return problems + [f"{binary}: {name} is not unconfirmed, as expected.json says"
                       for binary, name in sorted(known - found)]


def differences(suite: Suite, outcome: Outcome) -> list[str]:
    problems = list(outcome.problems)
    # Through CTest there is a list of what must run.
    if outcome.mode != "ctest" and len(outcome.tests) != suite.tests:
        problems.append(f"{len(outcome.tests)} tests ran, not {suite.tests}")
    problems += other_verdicts(suite, outcome) + unexpected(suite, outcome) + absent(suite, outcome)
    problems += [f"{leak['binary']}: {leak['test']}: missed what {leak['tool']} finds: "
                 f"{leak['kind']}, {leak['file']}:{leak['line']}" for leak in missed(suite, outcome)]
    return problems
