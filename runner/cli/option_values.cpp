#include "runner/cli/option_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "common/region_layout.h"

namespace leakgate {

namespace {

// Returns `text` as a number; nothing if not all of it is one.
template <typename Number>
std::optional<Number> ReadWhole(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end) return std::nullopt;
  return number;
}

}  // namespace

Expected<std::uint32_t> ParseStackDepth(const std::string& option, const std::string& text) {
  const auto frames = ReadWhole<std::uint32_t>(text);
  if (frames && *frames >= 1 && *frames <= kMaxStackDepth) return *frames;
  return UsageError(
      fmt::format("{0} '{1}': not a number of frames from 1 to {2}; write for example {0} 512",
                  option, text, kMaxStackDepth));
}

Expected<int> ParsePid(const std::string&, const std::string& text) {
  const auto pid = ReadWhole<int>(text);
  if (pid && *pid > 0) return *pid;
  return UsageError(fmt::format("'{}': not a PID; write a number, as ps shows it", text));
}

Expected<std::uint64_t> ParseCount(const std::string& option, const std::string& text) {
  const auto count = ReadWhole<std::uint64_t>(text);
  if (count && *count > 0) return *count;
  return UsageError(
      fmt::format("{0} '{1}': not a number above 0; write for example {0} 20", option, text));
}

Expected<std::uint64_t> ParseBytes(const std::string& option, const std::string& text) {
  constexpr std::string_view kUnits = "KMGT";
  const char* const end = text.data() + text.size();
  std::uint64_t bytes = 0;
  const auto [rest, error] = std::from_chars(text.data(), end, bytes);
  std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  const std::size_t power = unit.empty() ? 0 : kUnits.find(unit.front()) + 1;
  if (power != 0) unit.remove_prefix(1);
  const bool is_unit = unit.empty() || (power != 0 && unit == "iB");
  const unsigned shift = static_cast<unsigned>(power) * 10;
  if (error == std::errc() && bytes != 0 && power <= kUnits.size() && is_unit &&
      bytes <= (~std::uint64_t{0} >> 1U) >> shift) {
    return bytes << shift;
  }
  return UsageError(
      fmt::format("{} '{}': write a size above 0, such as 500K, 100M or 2G", option, text));
}

Expected<std::chrono::milliseconds> ParseDuration(const std::string& option,
                                                  const std::string& text) {
  struct Unit {
    std::string_view name;
    double ms;
  };
  constexpr std::array kUnits = {Unit{"ms", 1}, Unit{"min", 60e3}, Unit{"h", 3600e3},
                                 Unit{"s", 1e3}, Unit{"", 1e3}};
  constexpr double kMostMs = 1e12;
  const auto unit = std::find_if(kUnits.begin(), kUnits.end(),
                                 [&](const Unit& each) { return text.ends_with(each.name); });
  const auto number =
      ReadWhole<double>(std::string_view(text).substr(0, text.size() - unit->name.size()));
  const double ms = number.value_or(0) * unit->ms;
  if (ms >= 1 && ms <= kMostMs) return std::chrono::milliseconds(static_cast<std::int64_t>(ms));
  return UsageError(fmt::format(
      "{0} '{1}': not a duration; write for example {0} 5s, {0} 500ms or {0} 2min", option, text));
}

Expected<std::chrono::milliseconds> ParseSeconds(const std::string& option,
                                                 const std::string& text) {
  constexpr double kMostSeconds = 1e9;
  const double seconds = ReadWhole<double>(text).value_or(0);
  if (seconds > 0 && seconds <= kMostSeconds) {
    return std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(seconds * 1000)));
  }
  return UsageError(
      fmt::format("{0} '{1}': not a number of seconds above 0; write for example {0} 60 or {0} 0.5",
                  option, text));
}

Expected<int> ParseOwnExitCode(const std::string& option, const std::string& text) {
  const auto code = ReadWhole<int>(text);
  if (code && *code >= 4 && *code <= 127) return *code;
  return UsageError(
      fmt::format("{0} '{1}': not a number from 4 to 127; write for example {0} 77", option, text));
}

Expected<std::int64_t> ParseRunCount(const std::string& option, const std::string& text) {
  const auto runs = ReadWhole<std::int64_t>(text);
  if (runs && *runs > 0) return *runs;
  return UsageError(fmt::format("{0} '{1}': not a number of runs above 0; write for example {0} 4",
                                option, text));
}

const Choices<ProgressMode>& ProgressModes() {
  static const Choices<ProgressMode> modes = {"HOW",
                                              "way",
                                              "--progress={}",
                                              {{"auto", ProgressMode::kAuto},
                                               {"bar", ProgressMode::kBar},
                                               {"lines", ProgressMode::kLines},
                                               {"none", ProgressMode::kNone}}};
  return modes;
}

OptionValue ReportWord() { return {"FORMAT=FILE", ValueKind::kReport, FormatNames()}; }

Expected<ReportRequest> ParseReport(const std::string&, const std::string& text) {
  return ParseReportRequest(text);
}

}  // namespace leakgate
