// What programs do: maps of strings, filled, looked up and cleared.
//
// strings_and_maps BUDGET_MS
#include <map>
#include <string>

#include "timing.h"

namespace {

constexpr std::uint64_t kEntries = 1000;

std::string NameOf(std::uint64_t number) {
  return "entry number " + std::to_string(number * 2654435761 % 100'003);
}

std::uint64_t Batch() {
  std::map<std::string, std::string> values;
  for (std::uint64_t i = 0; i < kEntries; ++i) {
    const std::string name = NameOf(i);
    values[name] = name + " of " + std::to_string(kEntries);
  }
  std::size_t found = 0;
  for (std::uint64_t i = 0; i < kEntries; ++i) found += values.count(NameOf(i * 3));
  bench::Use(&found);
  return kEntries;
}

}  // namespace

int main(int argc, char** argv) { bench::Measure(bench::Argument(argc, argv, 1), Batch); }
