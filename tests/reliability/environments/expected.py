"""What is to be said of each test of the suite, whatever it is built with."""
import pathlib

from cells import Cell

HERE = pathlib.Path(__file__).resolve().parent

# A block: bytes by libstdc++ and by libc++, the user's function, and the marker of its line.
_BODY = "Leak_{}_Test::TestBody"
LEAKS = {
    "Leak.ByNew": [(48, 48, _BODY.format("ByNew"), "new")],
    "Leak.ByNewOfAnArray": [(96, 96, _BODY.format("ByNewOfAnArray"), "array")],
    "Leak.ByMalloc": [(100, 100, _BODY.format("ByMalloc"), "malloc")],
    "Leak.InAThread": [(101, 101, "LeakInThread", "thread")],
    "Leak.ThroughALibrary": [(103, 103, "LeakInLibrary", "library")],
    "Leak.PastAnException": [(104, 104, "LeakAndThrow", "throw")],
    "Fixture.Leaks": [(105, 105, "Fixture::SetUp", "fixture")],
    "Leak.AString": [(32, 24, _BODY.format("AString"), "string"), (201, 208, _BODY.format("AString"), "string")],
    "Leak.AVector": [(24, 24, _BODY.format("AVector"), "vector"), (200, 200, _BODY.format("AVector"), "vector")],
    "Leak.AMap": [(48, 24, _BODY.format("AMap"), "map"), (40, 40, _BODY.format("AMap"), "node")],
    "Leak.ACycle": [(72, 80, _BODY.format("ACycle"), "cycle")],
    "Leak.AFunction": [(32, 48, _BODY.format("AFunction"), "function"), (48, 56, _BODY.format("AFunction"), "function")],
    "Sizes/OfSize.Leaks/0": [(11, 11, "OfSize_Leaks_Test::TestBody", "parameter")],
    "Sizes/OfSize.Leaks/1": [(22, 22, "OfSize_Leaks_Test::TestBody", "parameter")],
    "OfType/0.Leaks": [(1, 1, "OfType_Leaks_Test<char>::TestBody", "typed")],
    "OfType/1.Leaks": [(8, 8, "OfType_Leaks_Test<double>::TestBody", "typed")],
}
PASSES = {f"Passes.{name}": [] for name in ("Nothing", "FreeingAll", "Catching", "FillingAFunctionStatic",
                                            "RecordingItsResults", "Skipped", "Mocking")} | {"PassesDeathTest.Dying": []}
EXPECTED = LEAKS | PASSES


def lines() -> dict[str, str]:
    """The place of each marker."""
    return {text.rsplit("// LEAK: ", 1)[1]: f"{source.name}:{number}"
            for source in (HERE / "leaks.cpp", HERE / "library.cpp")
            for number, text in enumerate(source.read_text().splitlines(), 1) if "// LEAK: " in text}


PLACES = lines()


def wanted(test: str, cell: Cell) -> list[tuple]:
    is_libcxx = cell.runtime == "libc++"
    blocks = [(other if is_libcxx else bytes_, function, PLACES[marker])
              for bytes_, other, function, marker in EXPECTED[test]]
    return sorted(blocks)


def told(test: dict) -> list[tuple]:
    found = []
    for finding in test["findings"]:
        if "framework_rule" in finding or finding["disposition"] == "one_time":
            continue
        frame = {"function": "", "file": "", "line": 0}
        if finding["user_frame"] is not None:
            frame = finding["stack"][finding["user_frame"]]
        found.append((finding["bytes"], frame["function"],
                      f"{pathlib.Path(frame['file']).name}:{frame['line']}", finding["blocks"]))
    return sorted(found)


def is_same(want: list[tuple], got: list[tuple], knows: str) -> bool:
    if knows == "lines":
        return len(want) == len(got) and all(
            bytes_ == got_bytes and function in got_function and place == got_place
            for (bytes_, function, place), (got_bytes, got_function, got_place, _) in zip(want, got))
    # Without lines, two blocks of one function are one finding.
    return (sum(block[0] for block in want) == sum(block[0] for block in got) and
            (knows == "nothing" or all(want[0][1] in block[1] for block in got)))


def problems_of_test(name: str, test: dict, cell: Cell) -> list[str]:
    verdict = "over_budget" if EXPECTED[name] else "pass"
    if test["verdict"] != verdict:
        return [f"{name}: {test['verdict']} instead of {verdict} ({test.get('reason', '')})"]
    if verdict == "pass":
        return []
    want, got = wanted(name, cell), told(test)
    if is_same(want, got, cell.knows) and sum(block[3] for block in got) == len(want):
        return []
    return [f"{name}: {got} instead of {want}"]


def problems(report: dict, mode: str, cell: Cell) -> list[str]:
    """All in which the report is not as it must be."""
    found = []
    boundaries = "listener" if mode == "listener" else "stream"
    if report["tracing"]["boundaries"] != boundaries or report["tracing"]["drops"]:
        found.append(f"tracing: {report['tracing']}")
    for key, want in (("verdict", "failed"), ("reasons", []), ("exit_code", 1)):
        if report[key] != want:
            found.append(f"{key} is {report[key]!r} instead of {want!r}")
    tests = {window["name"]: window for window in report["windows"] if window["kind"] == "test"}
    if tests.keys() != EXPECTED.keys():
        found.append(f"tests: {sorted(tests.keys() ^ EXPECTED.keys())}")
    for name in sorted(tests.keys() & EXPECTED.keys()):
        found += problems_of_test(name, tests[name], cell)
    for window in report["windows"]:
        if window["kind"] != "test" and window["verdict"] not in ("pass", "not_gated"):
            found.append(f"{window['kind']} {window['name']}: {window['verdict']}")
    return found
