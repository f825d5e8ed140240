"""The workloads, the figures that each yields, and the bars they are held to."""
import dataclasses
import enum

from .paths import SCRATCH

BASELINE = SCRATCH / "baseline.json"


@dataclasses.dataclass(frozen=True)
class Bar:
    """At most `times` another figure of the same round, plus `plus`."""
    plus: float = 0.0
    times: float = 0.0
    tool: str = "native"
    workload: str = ""  # of the other figure; empty: the same
    text: str = ""
    otherwise: "Bar | None" = None  # which will do as well


def over_native(plus: float, unit: str, times: float = 1.0) -> Bar:
    ratio = "native" if times == 1.0 else f"{times:g}x native"
    return Bar(plus=plus, times=times, text=f"{ratio} + {plus:g} {unit}" if plus else ratio)


@dataclasses.dataclass(frozen=True)
class Figure:
    """One row of the table."""
    key: str  # as the workload prints it; or "wall_ms"
    unit: str
    title: str
    bars: tuple[Bar, ...] = ()
    divide_by: float = 1.0
    tools: tuple[str, ...] = ()  # whose figures can be compared; empty: all
    is_cost: bool = True  # every tool's is to be held against leakgate's


class Verdict(enum.Enum):
    """What tools must say of a workload, or they have no figure."""
    ANY = enum.auto()
    CLEAN = enum.auto()
    LEAKY = enum.auto()


@dataclasses.dataclass(frozen=True)
class Workload:
    name: str
    program: str  # a source in workloads/, or a script there that prints one for each binary; empty for suites
    arguments: tuple[str, ...]
    figures: tuple[Figure, ...]
    quick: tuple[str, ...] = ()  # arguments with --quick; empty: the same
    slow: dict[int, tuple[str, ...]] = dataclasses.field(default_factory=dict)  # by slowness, from
    defines: tuple[str, ...] = ()
    with_listener: bool = False  # leakgate runs the program with its listener linked in
    links_gtest: bool = False
    tools: tuple[str, ...] = ()  # empty: all
    binaries: int = 1  # that the script makes, one after the other
    suites: tuple[str, ...] = ()  # real ones, all their binaries one after the other
    options: tuple[str, ...] = ()  # of `leakgate run`
    baseline_of: "Workload | None" = None  # whose leaks BASELINE has
    one_by_one: int = 0  # so many of its tests, each in a process of its own; 0: all in one
    is_next_run: bool = False  # what was read of debug information in a run before is still in the cache
    verdict: Verdict = Verdict.ANY
    least_runs: int = 1

    def arguments_for(self, slowness: int, is_quick: bool) -> tuple[str, ...]:
        chosen = self.quick if is_quick and self.quick else self.arguments
        for least in sorted(self.slow):
            if slowness >= least:
                chosen = self.slow[least]
        return chosen


def ns(title: str, *bars: Bar) -> tuple[Figure, ...]:
    return (Figure("ns_per_op", "ns", title, bars),)


def long_for_heaptrack(*before: str) -> dict[int, tuple[str, ...]]:
    """Its first second goes into reading debug information."""
    return {5: (*before, "2000"), 10: (*before, "300")}


def pairs(depth: int, threads: int, *bars: Bar) -> Workload:
    on_threads = f", {threads} threads" if threads > 1 else ""
    return Workload(
        name=f"pairs-{depth}" + (f"-threads-{threads}" if threads > 1 else ""),
        program="pairs",
        arguments=(str(depth), str(threads), "300"), quick=(str(depth), str(threads), "60"),
        slow=long_for_heaptrack(str(depth), str(threads)), least_runs=3,
        figures=ns(f"malloc/free pair, depth {depth}{on_threads}", *bars))


def timed(program: str, title: str, *bars: Bar) -> Workload:
    return Workload(name=program.replace("_", "-"), program=program, arguments=("300",), quick=("60",),
                    slow=long_for_heaptrack(), least_runs=3, figures=ns(title, *bars))


EMPTY_TESTS = 100_000


def empty_tests(name: str, title: str, with_listener: bool, *bars: Bar) -> Workload:
    return Workload(
        name=name, program="empty_tests", arguments=(), with_listener=with_listener,
        links_gtest=True, defines=(f"EMPTY_TESTS={EMPTY_TESTS}",),
        tools=("native", "leakgate") if with_listener else (),
        figures=(Figure("wall_ms", "µs", title, bars, divide_by=EMPTY_TESTS / 1000),))


def tracing_workloads() -> list[Workload]:
    own = ("native", "leakgate")
    return [
        pairs(10, 1, over_native(6, "ns")),
        pairs(40, 1, over_native(10, "ns")),
        pairs(100, 1, over_native(15, "ns")),
        pairs(10, 2, over_native(8, "ns"),
              Bar(times=1.0, tool="leakgate", workload="pairs-10", text="leakgate's on 1 thread")),
        pairs(10, 8),
        Workload(name="tree", program="tree", arguments=("12",), quick=("10",), slow={10: ("10",), 20: ("8",)},
                 figures=ns("tree, every stack new", over_native(0, "ns", 8.0),
                            Bar(times=0.2, tool="heaptrack", text="1/5 of heaptrack"))),
        timed("strings_and_maps", "strings and maps, an entry", over_native(0, "ns", 1.2)),
        timed("growing_vectors", "vectors growing by realloc, a step"),
        timed("producer_consumer", "producer and consumer, a block", over_native(0, "ns", 1.3)),
        Workload(name="live-blocks", program="live_blocks", arguments=("10000000",), quick=("1000000",),
                 slow={5: ("1000000",), 100: ("10000",)},
                 figures=ns("10 million live blocks, to allocate one") + (
                     Figure("total_mib", "MiB", "10 million live blocks, memory", is_cost=False,
                            tools=("native", "leakgate", "lsan", "asan")),
                     Figure("region_to_heap", "x", "10 million live blocks, region to heap", tools=("leakgate",),
                            bars=(Bar(plus=0.5, text="0.5x the heap"),), is_cost=False))),
        Workload(name="snapshot", program="snapshot", arguments=("10000000",), quick=("1000000",), tools=("leakgate",),
                 figures=(Figure("snapshot_ms", "ms", "snapshot of 10 million live blocks",
                                 (Bar(plus=400, text="0.4 s"),)),)),
        Workload(name="thread-memory-0", program="thread_memory", arguments=("0",), tools=own,
                 figures=(Figure("total_kib", "KiB", "memory, one thread",
                                 (over_native(4096, "KiB"),), is_cost=False),)),
        Workload(name="thread-memory-64", program="thread_memory", arguments=("64",), tools=own,
                 figures=(Figure("total_kib", "KiB", "memory, 64 threads more",
                                 (over_native(4096 + 64 * 256, "KiB"),), is_cost=False),)),
        Workload(name="threads", program="threads", arguments=(), links_gtest=True, verdict=Verdict.CLEAN, least_runs=5,
                 tools=(*own, "lsan"), figures=(Figure("wall_ms", "ms", "10,000 threads created and joined in a test",
                                                       (over_native(0, "ms", 1.3),)),)),
        empty_tests("empty-tests", "empty test, untouched", False),
        empty_tests("empty-tests-listener", "empty test, listener", True, over_native(1, "µs")),
        Workload(name="start-up", program="empty_tests", arguments=(), defines=("EMPTY_TESTS=1",),
                 links_gtest=True, least_runs=20,
                 figures=(Figure("wall_ms", "ms", "start-up and exit, one empty test",
                                 (over_native(20, "ms"),)),)),
    ]
