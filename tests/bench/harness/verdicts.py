"""The workloads of which a verdict is waited for: real suites, and our own of such shapes."""
import dataclasses

from .paths import SCRATCH
from .real_suites import ALL, SUITES
from .workloads import BASELINE, EMPTY_TESTS, Bar, Figure, Verdict, Workload, over_native

OWN = ("native", "leakgate")
PEERS = (*OWN, "lsan")
JSON_REPORT = ("--report", f"json={SCRATCH / 'report.json'}")
LIKE_LSAN = Bar(times=1.2, tool="lsan", text="1.2x LeakSanitizer")


def wall(title: str, *bars: Bar) -> tuple[Figure, ...]:
    return (Figure("wall_ms", "ms", title, bars),)


def not_slower(binaries: int) -> Bar:
    return Bar(times=1.0, tool="lsan", text=f"LeakSanitizer, or 1.05x native + {binaries} x 50 ms",
               otherwise=over_native(50 * binaries, "ms", 1.05))


STATICS = Workload(
    name="statics", program="statics", arguments=(), links_gtest=True, tools=PEERS, options=JSON_REPORT,
    verdict=Verdict.CLEAN, least_runs=5, figures=wall("60 quick tests that use statics", not_slower(1)))
LEAKS = Workload(
    name="leaks", program="leaks", arguments=(), links_gtest=True, binaries=6, tools=PEERS, verdict=Verdict.LEAKY,
    least_runs=3, figures=wall("1,550 leaks in 3,100 tests, 6 binaries", Bar(plus=1000, text="1 s")))
KNOWN_LEAKS = dataclasses.replace(LEAKS, binaries=2)  # of which the report is of 4 MB
LOST_MEMORY = Workload(
    name="lost-memory", program="lost_memory", arguments=(), links_gtest=True, tools=PEERS, verdict=Verdict.LEAKY,
    figures=wall("77 tests that lose 1.4 GiB", Bar(plus=3000, text="3 s")))
BLOCK_EACH = Workload(
    name="block-each", program="block_each", arguments=(), links_gtest=True, tools=PEERS, defines=(f"TESTS={EMPTY_TESTS}",),
    verdict=Verdict.LEAKY, least_runs=3,
    figures=(*wall("100,000 tests of which each loses a block", over_native(1000, "ms", 3)),
             Figure("peak_mib", "MiB", "100,000 tests of which each loses a block, memory of leakgate's runner",
                    (Bar(plus=150, text="150 MiB"),), tools=("leakgate",), is_cost=False)))
THREADS_ALIVE = Workload(
    name="threads-alive", program="threads_alive", arguments=(), links_gtest=True, tools=OWN, verdict=Verdict.LEAKY,
    options=("--confirm=off",), least_runs=5, figures=tuple(
        Figure(f"{what}_ms", "ms", f"verdict of a test that {what} a block while 1,000 threads wait",
               (over_native(50 * looks, "ms"),), is_cost=False) for what, looks in (("kept", 1), ("lost", 2))))
EMPTY_TESTS_REPORT = Workload(
    name="empty-tests-report", program="empty_tests", arguments=(), links_gtest=True, tools=PEERS, options=JSON_REPORT,
    defines=(f"EMPTY_TESTS={EMPTY_TESTS}",), verdict=Verdict.CLEAN, least_runs=3,
    figures=(*wall("100,000 empty tests, JSON report", over_native(300, "ms", 2)),
             Figure("peak_mib", "MiB", "100,000 empty tests, JSON report, memory of leakgate's runner",
                    (Bar(plus=100, text="100 MiB"),), tools=("leakgate",), is_cost=False)))
ALL_SUITES = Workload(
    name="all-suites", program="", arguments=(), suites=tuple(ALL), tools=OWN,
    figures=wall("all suites of docs/accuracy.md, one process a binary", over_native(0, "ms", 1.1)))


def beside_heap(millions: int) -> Workload:
    return Workload(
        name=f"beside-heap-{millions}", program="beside_heap", arguments=(), links_gtest=True, tools=PEERS,
        defines=(f"LIVE_BLOCKS={millions}000000",), verdict=Verdict.LEAKY, least_runs=3,
        figures=wall(f"50 tests that lose a block beside {millions} million live blocks",
                     Bar(times=1.0, plus=500, tool="lsan", text="LeakSanitizer + 0.5 s")))


def real_suite(name: str) -> Workload:
    binaries = len(SUITES[name].binaries)
    title = f"{name}'s suite" + (f", {binaries} binaries" if binaries > 1 else "")
    return Workload(name=name, program="", arguments=(), suites=(name,), options=JSON_REPORT,
                    # Of the larger ones, tools that are slower by tens would take minutes each.
                    tools=() if name in ("snappy", "yaml-cpp") else PEERS,
                    figures=wall(title, not_slower(binaries)))


def variant(workload: Workload, suffix: str, title: str, *bars: Bar, **changes: object) -> Workload:
    return dataclasses.replace(workload, name=workload.name + suffix, figures=wall(title, *bars), **changes)


def without_report(suite: Workload) -> Workload:
    return variant(suite, "-no-report", f"{suite.figures[0].title}, no report", tools=OWN, options=())


def one_by_one(suite: Workload, what: str, tests: int) -> tuple[Workload, Workload]:
    """As CTest runs tests, for the first time and once more."""
    title = f"{what}, one process a test, a test"
    first = variant(suite, "-one-by-one", title, LIKE_LSAN, tools=PEERS, options=(), one_by_one=tests)
    return first, variant(first, "-again", f"{title}, next run", LIKE_LSAN, is_next_run=True)


def with_baseline(suite: Workload, what: str, tests: int) -> tuple[Workload, Workload]:
    """Of other tests' leaks, as where one baseline is for all suites of a project."""
    title = f"{what}, {tests} tests, one process each, a test"
    without = variant(suite, "-no-baseline", title, tools=OWN, options=(), one_by_one=tests, is_next_run=True)
    bar = Bar(times=1.1, tool="leakgate", workload=without.name, text="1.1x without a baseline")
    return without, variant(suite, "-baseline", f"{title}, a baseline of 4 MB", bar, tools=OWN,
                            options=("--baseline", str(BASELINE)), baseline_of=KNOWN_LEAKS, one_by_one=tests, is_next_run=True)


def verdict_workloads() -> list[Workload]:
    suites = {name: real_suite(name) for name in SUITES}
    return [
        *(workload for suite in suites.values() for workload in (suite, without_report(suite))), ALL_SUITES, STATICS,
        *(workload for name, suite in suites.items() if name != "snappy"  # which has 20 tests
          for workload in one_by_one(suite, f"{name}'s suite", 100)),
        *one_by_one(STATICS, "quick tests that use statics", 60),
        LEAKS, *with_baseline(suites["yaml-cpp"], "yaml-cpp's suite", 268), LOST_MEMORY, BLOCK_EACH, THREADS_ALIVE,
        *(beside_heap(millions) for millions in (1, 5, 10)), EMPTY_TESTS_REPORT,
    ]
