"""What was measured: a figure of each round, workload and tool; medians of it."""
import dataclasses
import statistics
import sys

from .workloads import Bar, Figure, Workload


@dataclasses.dataclass
class Results:
    # rounds[number][(workload, tool)] -> the figures that were printed
    rounds: list[dict[tuple[str, str], dict[str, float]]] = dataclasses.field(default_factory=list)

    def add(self, number: int, workload: str, tool: str, figures: dict[str, float]) -> None:
        while len(self.rounds) <= number:
            self.rounds.append({})
        self.rounds[number][(workload, tool)] = figures

    def of_round(self, number: int, workload: str, tool: str, figure: Figure) -> float | None:
        value = self.rounds[number].get((workload, tool), {}).get(figure.key)
        return None if value is None else value / figure.divide_by

    def pairs(self, figure: Figure, one: tuple[str, str], other: tuple[str, str]) -> list[tuple[float, float]]:
        """The two of each round that has both."""
        found = []
        for number in range(len(self.rounds)):
            first, second = (self.of_round(number, *which, figure) for which in (one, other))
            if first is not None and second is not None:
                found.append((first, second))
        return found

    def median(self, workload: str, tool: str, figure: Figure) -> float | None:
        values = [first for first, _ in self.pairs(figure, (workload, tool), (workload, tool))]
        return statistics.median(values) if values else None

    def ratio(self, workload: str, tool: str, figure: Figure, to: str = "native") -> float | None:
        both = [pair for pair in self.pairs(figure, (workload, tool), (workload, to)) if pair[1] > 0]
        return statistics.median(first / second for first, second in both) if both else None

    def difference(self, workload: str, tool: str, figure: Figure) -> float | None:
        both = self.pairs(figure, (workload, tool), (workload, "native"))
        return statistics.median(first - second for first, second in both) if both else None

    def average_tests(self, workload: str) -> None:
        """Of tests that were run one by one, each tool's average over those that none failed in any round."""
        runs = {(number, tool): figures for number, one in enumerate(self.rounds)
                for (name, tool), figures in one.items() if name == workload and figures}
        every = set().union(*runs.values())
        common = every.intersection(*runs.values())
        for test in sorted(every - common):
            tools = sorted({tool for (_, tool), figures in runs.items() if test not in figures})
            print(f"compare: {workload}: {test} is left out: it failed under {', '.join(tools)}", file=sys.stderr)
        for figures in runs.values():
            if common:
                figures["wall_ms"] = statistics.mean(figures[test] for test in common)


@dataclasses.dataclass(frozen=True)
class BarResult:
    measured: float
    allowed: float
    holds: bool


def allowed_in(number: int, bar: Bar, results: Results, workload: Workload, figure: Figure) -> float | None:
    """The most that the bar allows in one round; None if what it is held to was not measured."""
    other = results.of_round(number, bar.workload or workload.name, bar.tool, figure) if bar.times else 0.0
    own = None if other is None else bar.times * other + bar.plus
    otherwise = allowed_in(number, bar.otherwise, results, workload, figure) if bar.otherwise else None
    return max((allowed for allowed in (own, otherwise) if allowed is not None), default=None)


def hold_to(bar: Bar, results: Results, workload: Workload, figure: Figure) -> BarResult | None:
    """leakgate's figure against the bar, each round against its own."""
    both = [(results.of_round(number, workload.name, "leakgate", figure),
             allowed_in(number, bar, results, workload, figure)) for number in range(len(results.rounds))]
    both = [pair for pair in both if None not in pair]
    if not both:
        return None
    return BarResult(measured=statistics.median(measured for measured, _ in both),
                     allowed=statistics.median(allowed for _, allowed in both),
                     holds=statistics.median(measured - allowed for measured, allowed in both) <= 0)
