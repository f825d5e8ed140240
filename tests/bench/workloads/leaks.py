"""Prints one of six test programs: 1,550 leaks together, each at a call site of its own, and as many clean
twins of these tests.

Usage: leaks.py BINARY (0 to 5)
"""
import sys

LEAKS = 1550
BINARIES = 6

HEAD = """#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "timing.h"

namespace {

struct Pair {
  char* text;
  ~Pair() { delete[] text; }
};
"""

# What is made, and how it is released.
KINDS = (
    ("std::malloc({size})", "std::free(block)"),
    ("new char[{size}]", "delete[] block"),
    ("new std::string({size}, 'x')", "delete block"),
    ("new std::vector<int>({size})", "delete block"),
    ("new Pair{{new char[{size}]}}", "delete block"),
)


def pair(number: int) -> str:
    make, release = KINDS[number % len(KINDS)]
    begin = f"  auto* const block = {make.format(size=24 + number % 200)};\n  bench::Use(block);\n"
    return (f"\nTEST(Loses, Block{number}) {{\n{begin}}}\n"
            f"\nTEST(Releases, Block{number}) {{\n{begin}  {release};\n}}\n")


def main() -> None:
    print(HEAD, *(pair(number) for number in range(int(sys.argv[1]), LEAKS, BINARIES)), "\n}  // namespace", sep="")


if __name__ == "__main__":
    main()
