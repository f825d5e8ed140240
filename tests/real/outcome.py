"""What gating one real suite in one mode came to, however it was run."""
import concurrent.futures
import dataclasses

from running import call_site, charged, run_gated, tests_of
from suites import Suite

MODES = ("untouched", "listener", "ctest")
BOUNDARIES = {"untouched": "stream", "listener": "listener", "ctest": "stream"}


@dataclasses.dataclass(frozen=True)
class Test:
    binary: str
    name: str
    verdict: str
    is_candidate: bool  # something was outstanding at its end
    sites: frozenset[str]  # the call sites that put it over budget
    frames: frozenset[tuple[str, int]]  # all lines, by file, on the stacks of those

    @property
    def key(self) -> tuple[str, str]:
        return self.binary, self.name


@dataclasses.dataclass
class Outcome:
    mode: str
    tests: list[Test]
    problems: list[str]  # of measuring, not of what was measured

    def count(self, verdict: str) -> int:
        return sum(test.verdict == verdict for test in self.tests)

    @property
    def candidates(self) -> int:
        return sum(test.is_candidate for test in self.tests)

    @property
    def over_budget(self) -> list[Test]:
        return [test for test in self.tests if test.verdict == "over_budget"]


def test_of(suite: Suite, binary: str, window: dict) -> Test:
    findings = charged(window) if window["verdict"] == "over_budget" else []
    return Test(binary, window["name"], window["verdict"], window["outstanding"]["blocks"] > 0,
                frozenset(call_site(suite, finding) for finding in findings),
                frozenset((frame["file"], frame["line"]) for finding in findings for frame in finding["stack"]))


def problems_of(suite: Suite, binary: str, mode: str, report: dict) -> list[str]:
    problems = []
    if tests_of(report) and report["tracing"]["boundaries"] != BOUNDARIES[mode]:
        problems.append(f"{binary}: boundaries by {report['tracing']['boundaries']}, not {BOUNDARIES[mode]}")
    if report["tracing"]["drops"]:
        problems.append(f"{binary}: drops: {report['tracing']['drops']}")
    own = report["program"]["exit_code"]
    # With the listener it is the program itself that fails for a test over budget.
    ends_badly = suite.ends_badly + (suite.fails_alone if mode == "ctest" else ())
    if own != 0 and binary not in ends_badly and not (mode == "listener" and own == 1 == report["exit_code"]):
        problems.append(f"{binary}: ended with {report['program']}, reasons: {report['reasons']}")
    return problems


def outcome_of(suite: Suite, mode: str, reports: list[tuple[str, dict]]) -> Outcome:
    return Outcome(mode, [test_of(suite, binary, window) for binary, report in reports for window in tests_of(report)],
                   [problem for binary, report in reports for problem in problems_of(suite, binary, mode, report)])


def gate_whole(suite: Suite, mode: str, leakgate: str, arguments: list[str] = []) -> Outcome:
    """One process a binary."""
    def run(binary: str) -> tuple[str, dict]:
        return binary, run_gated(suite, suite.command(binary, mode) + arguments, leakgate)

    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        return outcome_of(suite, mode, list(pool.map(run, suite.binaries)))
