#include "runner/region/amount.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace leakgate {
namespace {

constexpr std::int64_t kExactBelowBytes = 10 * 1024;

// Returns the digits and the unit; the caller adds the sign.
std::string FormatMagnitude(double bytes) {
  constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  constexpr double kRoundsUpToNextUnit = 1023.95;
  double value = bytes / 1024;
  std::size_t unit = 0;
  while (value >= kRoundsUpToNextUnit && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

}  // namespace

std::string FormatBytes(std::int64_t bytes) {
  if (bytes > -kExactBelowBytes && bytes < kExactBelowBytes) return fmt::format("{} B", bytes);
  const double magnitude = std::abs(static_cast<double>(bytes));
  return (bytes < 0 ? "-" : "") + FormatMagnitude(magnitude);
}

std::string FormatCount(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 || count == -1 ? "" : "s");
}

std::string FormatAmount(Amount amount) {
  return FormatBytes(amount.bytes) + " in " + FormatCount(amount.blocks, "block");
}

std::string FormatMapped(Amount amount) {
  return FormatBytes(amount.bytes) + " in " + FormatCount(amount.blocks, "mapping");
}

std::string FormatChange(Amount change) {
  const char* const bytes_sign = change.bytes >= 0 ? "+" : "";
  const char* const blocks_sign = change.blocks >= 0 ? "+" : "";
  return fmt::format("{}{} ({}{})", bytes_sign, FormatBytes(change.bytes), blocks_sign,
                     FormatCount(change.blocks, "block"));
}

std::string FormatDuration(std::chrono::nanoseconds duration) {
  const double seconds = std::chrono::duration<double>(duration).count();
  if (seconds < 0.001) return fmt::format("{:.1f} ms", seconds * 1000);
  if (seconds < 0.9995) return fmt::format("{:.0f} ms", seconds * 1000);
  if (seconds < 59.995) return fmt::format("{:.2f} s", seconds);
  const auto whole = std::chrono::round<std::chrono::seconds>(duration).count();
  return fmt::format("{} min {} s", whole / 60, whole % 60);
}

}  // namespace leakgate
