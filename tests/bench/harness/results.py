"""What was measured: a figure of each round, workload and tool; medians of it."""
import dataclasses
import statistics

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


@dataclasses.dataclass(frozen=True)
class BarResult:
    measured: float
    allowed: float
    holds: bool


def hold_to(bar: Bar, results: Results, workload: Workload, figure: Figure) -> BarResult | None:
    """leakgate's figure against the bar, each round against its own."""
    own = (workload.name, "leakgate")
    other = (bar.workload or workload.name, bar.tool) if bar.times else own
    both = results.pairs(figure, own, other)
    if not both:
        return None
    return BarResult(
        measured=statistics.median(first for first, _ in both),
        allowed=statistics.median(bar.times * second + bar.plus for _, second in both),
        holds=statistics.median(first - bar.times * second for first, second in both) <= bar.plus)
