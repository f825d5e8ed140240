"""Results as Markdown."""
import pathlib

from .machine import describe
from .results import Results, hold_to
from .tools import Tool
from .workloads import Figure, Workload


def number(value: float) -> str:
    """Three digits that matter."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def row(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def head(titles: list[str]) -> list[str]:
    return [row(titles), "|---" + "|---:" * (len(titles) - 1) + "|"]


def is_of(figure: Figure, tool: str) -> bool:
    return not figure.tools or tool in figure.tools


def cell(results: Results, workload: Workload, figure: Figure, tool: Tool) -> str:
    median = results.median(workload.name, tool.name, figure)
    if median is None or not is_of(figure, tool.name):
        return ""
    ratio = results.ratio(workload.name, tool.name, figure)
    is_compared = ratio is not None and tool.name != "native" and is_of(figure, "native")
    return number(median) + (f" ({number(ratio)}x)" if is_compared else "")


def figures_of(results: Results, workloads: list[Workload]) -> list[tuple[Workload, Figure]]:
    measured = {name for rounds in results.rounds for name, _ in rounds}
    return [(workload, figure) for workload in workloads if workload.name in measured
            for figure in workload.figures]


def main_table(results: Results, workloads: list[Workload], tools: list[Tool]) -> list[str]:
    lines = head(["workload", "unit", *(tool.title for tool in tools), "leakgate over native"])
    for workload, figure in figures_of(results, workloads):
        over = results.difference(workload.name, "leakgate", figure) if is_of(figure, "native") else None
        lines.append(row([figure.title, figure.unit,
                          *(cell(results, workload, figure, tool) for tool in tools),
                          "" if over is None else f"{over:+,.1f}"]))
    return lines


def bar_table(results: Results, workloads: list[Workload]) -> list[str]:
    lines = head(["bar", "at most", "allowed", "measured", "holds"])
    for workload, figure in figures_of(results, workloads):
        for bar in figure.bars:
            result = hold_to(bar, results, workload, figure)
            if result is not None:
                lines.append(row([figure.title, bar.text, f"{number(result.allowed)} {figure.unit}",
                                  f"{number(result.measured)} {figure.unit}",
                                  "yes" if result.holds else "**no**"]))
    return lines


def slower_than_peers(results: Results, workloads: list[Workload], tools: list[Tool]) -> list[str]:
    lines = []
    for workload, figure in figures_of(results, workloads):
        for tool in tools:
            if tool.name in ("native", "off", "leakgate") or not figure.is_cost:
                continue
            ratio = results.ratio(workload.name, "leakgate", figure, to=tool.name)
            if ratio is not None and ratio >= 1:
                lines.append(f"- {figure.title}: leakgate takes {number(ratio)}x what {tool.title} takes")
    return lines or ["On none."]


def made_by(command: str, rounds: int) -> str:
    return f"Made by `{command}`, {rounds} interleaved rounds, medians, on: {describe()}."


def figures_as_markdown(made_by: str, results: Results, workloads: list[Workload], tools: list[Tool]) -> str:
    return "\n".join([made_by, "", *main_table(results, workloads, tools), "",
                      "### Where a peer is faster", "", *slower_than_peers(results, workloads, tools)])


def bars_as_markdown(made_by: str, results: Results, workloads: list[Workload]) -> str:
    return "\n".join([made_by, "", *bar_table(results, workloads)])


def write_between_markers(document: pathlib.Path, tool: str, text: str) -> None:
    """Puts `text` where the document has the table of `tool`, such as "tests/bench/compare"."""
    begin, end = f"<!-- {tool}: begin -->", f"<!-- {tool}: end -->"
    before, found, rest = document.read_text().partition(begin)
    _, found_end, after = rest.partition(end)
    if not found or not found_end:
        raise SystemExit(f"{tool}: {document} lacks the lines '{begin}' and '{end}'")
    document.write_text(f"{before}{begin}\n{text}\n{end}{after}")
