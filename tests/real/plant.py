#!/usr/bin/env python3
"""Plants leaks of many kinds into real suites' tests, and checks that leakgate finds them all.

plants/SUITE.plants says what is planted where. The sources stay as they are: changed copies are
built into binaries of their own (B_plants, see variants.cmake). Each plant must put its own test
over budget with a finding at a planted line, and no test that has no plant may be over budget but
for what expected.json says of the suite as it is.

Usage: plant.py [SUITE...] [--build-only] [--list] [--leakgate PATH]
"""
import argparse
import concurrent.futures
import dataclasses
import pathlib
import re
import sys

from build import alone, build_targets, configure, fetch
from expectations import expected_of
from outcome import Test, test_of
from running import LEAKGATE, over_budget, run_gated, tests_of
from suites import HERE, ROOT, SUITES, Suite

FOLDER = HERE / "plants"
# The compiler must not see that a planted block is not used.
USE = 'static inline void PlantUse(const void* block) { __asm__ volatile("" : : "r"(block) : "memory"); }'


@dataclasses.dataclass(frozen=True)
class Plant:
    name: str
    suite: str
    binary: str
    file: str
    test: str
    includes: tuple[str, ...]
    before: str
    inside: str

    @property
    def mark(self) -> str:
        return f"// PLANT: {self.name}"

    def marked(self, code: str) -> str:
        return code.replace("// PLANT\n", f"{self.mark}\n")

    @property
    def copy(self) -> pathlib.Path:
        return ROOT / "plants" / self.suite / self.file

    def lines(self) -> set[tuple[str, int]]:
        """Where it allocates, in the copy."""
        return {(str(self.copy), number) for number, line in enumerate(self.copy.read_text().splitlines(), 1)
                if line.endswith(self.mark)}


def parse(suite: str, section: str) -> Plant:
    name, _, body = section.partition("\n")
    heading, *parts = re.split(r"^-- (before|inside)\n", body, flags=re.MULTILINE)
    code = dict(zip(parts[::2], parts[1::2]))
    keys = dict(line.split(": ", 1) for line in heading.strip().splitlines())
    binary, file, test = keys["test"].split()
    return Plant(name.strip(), suite, binary, file, test, tuple(keys.get("include", "").split()),
                 code.get("before", "").rstrip("\n") + "\n", code["inside"].rstrip("\n") + "\n")


def plants_of(suite: str) -> list[Plant]:
    sections = re.split(r"^== ", (FOLDER / f"{suite}.plants").read_text(), flags=re.MULTILINE)[1:]
    return [parse(suite, section) for section in sections]


def insert(text: str, plant: Plant) -> str:
    group, name = plant.test.split(".")
    test = re.compile(rf"^TEST(_F)?\({group}, {name}\) {{\n", re.MULTILINE)
    if len(test.findall(text)) != 1:
        sys.exit(f"plant: {plant.name}: {plant.file} has not one {plant.test}")
    return test.sub(lambda found: plant.marked(plant.before) + found[0] + plant.marked(plant.inside), text)


def changed(suite: Suite, file: str, plants: list[Plant]) -> str:
    text = (suite.source / file).read_text()
    for plant in plants:
        text = insert(text, plant)
    includes = sorted({include for plant in plants for include in plant.includes} | {"<string>"})
    return "".join(f"#include {include}\n" for include in includes) + USE + "\n" + text


def write_copies(suite: Suite) -> None:
    plants = plants_of(suite.name)
    for file in {plant.file for plant in plants}:
        copy = ROOT / "plants" / suite.name / file
        text = changed(suite, file, [plant for plant in plants if plant.file == file])
        if not copy.exists() or copy.read_text() != text:
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(text)


def build(suite: Suite) -> None:
    with alone("apt"):
        fetch(suite)
    with alone(suite.name):
        write_copies(suite)
        configure(suite)
        build_targets(suite, sorted({f"{plant.binary}_plants" for plant in plants_of(suite.name)}))


def gate(suite: Suite, leakgate: str) -> dict[tuple[str, str], Test]:
    """Every test of the planted binaries that is over budget, by binary and name."""
    def run(binary: str) -> list[Test]:
        report = run_gated(suite, suite.command(binary, "plants"), leakgate)
        if not tests_of(report):
            sys.exit(f"plant: {binary}: no tests ran: {report['reasons']}")
        return [test_of(suite, binary, window) for window in over_budget(report)]

    binaries = sorted({plant.binary for plant in plants_of(suite.name)})
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        return {test.key: test for tests in pool.map(run, binaries) for test in tests}


def problems(suite: Suite, over: dict[tuple[str, str], Test]) -> list[str]:
    plants = plants_of(suite.name)
    found = []
    for plant in plants:
        test = over.get((plant.binary, plant.test))
        if test is None:
            found.append(f"{plant.name}: {plant.test} of {plant.binary} is not over budget")
        elif not test.frames & plant.lines():
            found.append(f"{plant.name}: {plant.test} is over budget, but not by {sorted(plant.lines())}: "
                         f"{', '.join(sorted(test.sites))}")
    explained = {(plant.binary, plant.test) for plant in plants}
    explained |= {(entry["binary"], entry["test"]) for entry in expected_of(suite)}
    return found + [f"{test.name} of {test.binary} is over budget, and nothing is planted there: "
                    f"{', '.join(sorted(test.sites))}" for key, test in over.items() if key not in explained]


def main() -> None:
    known = sorted(path.stem for path in FOLDER.glob("*.plants"))
    parser = argparse.ArgumentParser()
    parser.add_argument("suites", nargs="*", default=known)
    parser.add_argument("--build-only", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--leakgate", default=LEAKGATE)
    options = parser.parse_args()
    failed = False
    for name in options.suites:
        suite, plants = SUITES[name], plants_of(name)
        if options.list:
            print(*(f"{name}: {plant.test}: {plant.name}" for plant in plants), sep="\n")
            continue
        build(suite)
        wrong = [] if options.build_only else problems(suite, gate(suite, options.leakgate))
        failed = failed or bool(wrong)
        print(*(f"plant: {name}: {problem}" for problem in wrong), sep="\n", end="\n" if wrong else "")
        if not options.build_only and not wrong:
            print(f"plant: {name}: all {len(plants)} planted leaks found on the right test and line, no other test")
    sys.exit(failed)


if __name__ == "__main__":
    main()
