#include "runner/base/sizes_and_times.h"

#include <algorithm>
#include <array>
#include <span>

namespace leakgate {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};
// The first that a text ends with is its unit.
constexpr std::array kSizeUnits = {Unit{"KiB", 1024.0},
                                   Unit{"MiB", 1024.0 * 1024},
                                   Unit{"GiB", 1024.0 * 1024 * 1024},
                                   Unit{"K", 1024.0},
                                   Unit{"M", 1024.0 * 1024},
                                   Unit{"G", 1024.0 * 1024 * 1024},
                                   Unit{"B", 1},
                                   Unit{"", 1}};
constexpr std::size_t kFineUnits = 2;  // of times
constexpr std::array kTimeUnits = {Unit{"ns", 1},     Unit{"us", 1e3},   Unit{"ms", 1e6},
                                   Unit{"min", 60e9}, Unit{"h", 3600e9}, Unit{"s", 1e9},
                                   Unit{"", 1e9}};

// Returns the product of the number and its unit's factor, which is of `whole`.
std::optional<double> ReadQuantity(std::string_view text, std::span<const Unit> units,
                                   double whole) {
  for (const Unit& unit : units) {
    if (!text.ends_with(unit.name)) continue;
    text.remove_suffix(unit.name.size());
    const std::optional<double> number = ReadNumber<double>(text);
    return number ? std::optional(*number * (unit.factor / whole)) : std::nullopt;
  }
  return std::nullopt;
}

// A NaN is in no range.
std::optional<std::uint64_t> ToWhole(std::optional<double> number) {
  constexpr double kMost = 1e18;
  if (!number || !(*number >= 0 && *number <= kMost)) return std::nullopt;
  return static_cast<std::uint64_t>(*number);
}

}  // namespace

std::optional<std::uint64_t> ReadSize(std::string_view text) {
  return ToWhole(ReadQuantity(text, kSizeUnits, 1));
}

std::optional<std::uint64_t> ReadWholeSize(std::string_view text) {
  constexpr std::string_view kUnits = "KMGT";
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = ReadNumber<std::uint64_t>(text.substr(0, digits));
  text.remove_prefix(digits);
  const std::size_t power = text.empty() ? 0 : kUnits.find(text.front()) + 1;
  if (power != 0) text.remove_prefix(1);
  const bool is_unit = text.empty() || (power != 0 && text == "iB");
  const unsigned shift = static_cast<unsigned>(power) * 10;
  if (!number || !is_unit || *number > (~std::uint64_t{0} >> 1U) >> shift) return std::nullopt;
  return *number << shift;
}

std::optional<std::uint64_t> ReadTimeNs(std::string_view text) {
  return ToWhole(ReadQuantity(text, kTimeUnits, 1));
}

std::optional<double> ReadTimeMs(std::string_view text) {
  constexpr double kNsPerMs = 1e6;
  return ReadQuantity(text, std::span(kTimeUnits).subspan(kFineUnits), kNsPerMs);
}

}  // namespace leakgate
