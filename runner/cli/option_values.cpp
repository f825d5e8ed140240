#include "runner/cli/option_values.h"

#include <fmt/format.h>

#include <cmath>

#include "common/region_layout.h"
#include "runner/base/sizes_and_times.h"

namespace leakgate {

Expected<std::uint32_t> ParseStackDepth(const std::string& option, const std::string& text) {
  const auto frames = ReadNumber<std::uint32_t>(text);
  if (frames && *frames >= 1 && *frames <= kMaxStackDepth) return *frames;
  return UsageError(
      fmt::format("{0} '{1}': not a number of frames from 1 to {2}; write for example {0} 512",
                  option, text, kMaxStackDepth));
}

Expected<int> ParsePid(const std::string&, const std::string& text) {
  const auto pid = ReadNumber<int>(text);
  if (pid && *pid > 0) return *pid;
  return UsageError(fmt::format("'{}': not a PID; write a number, as ps shows it", text));
}

Expected<std::uint64_t> ParseCount(const std::string& option, const std::string& text) {
  const auto count = ReadNumber<std::uint64_t>(text);
  if (count && *count > 0) return *count;
  return UsageError(
      fmt::format("{0} '{1}': not a number above 0; write for example {0} 20", option, text));
}

Expected<std::uint64_t> ParseBytes(const std::string& option, const std::string& text) {
  const auto bytes = ReadWholeSize(text);
  if (bytes && *bytes != 0) return *bytes;
  return UsageError(
      fmt::format("{} '{}': write a size above 0, such as 500K, 100M or 2G", option, text));
}

Expected<std::chrono::milliseconds> ParseDuration(const std::string& option,
                                                  const std::string& text) {
  constexpr double kMostMs = 1e12;
  const double ms = ReadTimeMs(text).value_or(0);
  if (ms >= 1 && ms <= kMostMs) return std::chrono::milliseconds(static_cast<std::int64_t>(ms));
  return UsageError(fmt::format(
      "{0} '{1}': not a duration; write for example {0} 5s, {0} 500ms or {0} 2min", option, text));
}

Expected<std::chrono::milliseconds> ParseSeconds(const std::string& option,
                                                 const std::string& text) {
  constexpr double kMostSeconds = 1e9;
  const double seconds = ReadNumber<double>(text).value_or(0);
  if (seconds > 0 && seconds <= kMostSeconds) {
    return std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(seconds * 1000)));
  }
  return UsageError(
      fmt::format("{0} '{1}': not a number of seconds above 0; write for example {0} 60 or {0} 0.5",
                  option, text));
}

Expected<int> ParseOwnExitCode(const std::string& option, const std::string& text) {
  const auto code = ReadNumber<int>(text);
  if (code && *code >= 4 && *code <= 127) return *code;
  return UsageError(
      fmt::format("{0} '{1}': not a number from 4 to 127; write for example {0} 77", option, text));
}

Expected<std::int64_t> ParseRunCount(const std::string& option, const std::string& text) {
  const auto runs = ReadNumber<std::int64_t>(text);
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
