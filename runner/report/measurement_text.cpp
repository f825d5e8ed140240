#include "runner/report/measurement_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "runner/attribution/call_sites.h"
#include "runner/region/amount.h"
#include "runner/report/finding_fate.h"
#include "runner/report/finding_text.h"

namespace leakgate {
namespace {

bool IsCounted(const Finding& finding) { return IsUsers(finding) && CountsLiterally(finding); }

std::string SiteLine(const Finding& finding, const TextStyle& style) {
  const std::string line =
      fmt::format("{} by {}", FormatAmount(finding.amount), DescribeCallSite(finding));
  return "  " + Printable(WithRelativePaths(line, style.base_directory)) + '\n';
}

std::string NotCountedLine(const Finding& finding, const TextStyle& style) {
  const std::string fate = FateText(finding);
  const std::string line =
      fmt::format("not counted: {} by {}: {}", FormatAmount(finding.amount),
                  DescribeCallSite(finding), fate.empty() ? finding.framework_rule : fate);
  return "  " + Printable(WithRelativePaths(line, style.base_directory)) + '\n';
}

// Lines until there is no more room for one, and for the note that there are more.
class LimitedText {
 public:
  explicit LimitedText(std::size_t room) : room_(room) {}

  // False: it does not fit in `limit` of the room.
  bool Add(const std::string& lines, std::size_t limit) {
    if (text_.size() + lines.size() > std::min(limit, room_)) return false;
    text_ += lines;
    return true;
  }
  std::string Take() { return std::move(text_); }
  std::size_t room() const { return room_; }

 private:
  const std::size_t room_;
  std::string text_;
};

bool IsTest(const WindowResult& window) { return window.kind == WindowKind::kTest; }

std::string Measurement(std::string_view name, std::int64_t value) {
  return fmt::format(
      "<CTestMeasurement type=\"numeric/double\" name=\"leakgate {}\">{}</CTestMeasurement>\n",
      name, value);
}

}  // namespace

std::string MeasurementText(const std::vector<Finding>& findings, const TextStyle& style,
                            std::size_t room) {
  constexpr std::size_t kNote = 64;
  LimitedText text(room);
  const std::size_t for_lines = room - std::min(room, kNote);
  bool has_stacks = true;
  Amount left_out;
  std::int64_t left_out_count = 0;
  for (const Finding& finding : findings) {
    if (!IsCounted(finding)) continue;
    has_stacks = has_stacks && text.Add(FindingText(finding, style), room / 2);
    if (has_stacks || text.Add(SiteLine(finding, style), for_lines)) continue;
    left_out += finding.amount;
    ++left_out_count;
  }
  if (left_out_count != 0) {
    text.Add(fmt::format("  and {} ({})\n", FormatCount(left_out_count, "more call site"),
                         FormatBytes(left_out.bytes)),
             room);
  }
  for (const Finding& finding : findings) {
    if (!IsCounted(finding)) text.Add(NotCountedLine(finding, style), room);
  }
  return text.Take();
}

std::string MeasurementTextHere(const std::vector<Finding>& findings, std::size_t room) {
  std::error_code error;
  return MeasurementText(findings,
                         {.base_directory = std::filesystem::current_path(error).string()}, room);
}

std::string MeasuringWindowLine(const MeasuringWindowResult& window) {
  const std::string place =
      window.file.empty() ? "" : fmt::format(" ({}:{})", window.file, window.line);
  const std::string count = window.count > 1 ? fmt::format(", {} times", window.count) : "";
  const bool is_open = window.open_count == window.count;
  return fmt::format("measured: {} outstanding {} '{}'{}{}", FormatAmount(window.outstanding),
                     is_open ? "at the program's end in" : "at the end of", window.name, place,
                     count);
}

std::string CTestMeasurementsText(const RunResult& result) {
  const bool has_tests = std::any_of(result.windows.begin(), result.windows.end(), IsTest);
  Amount outstanding;
  Amount lost;
  for (const WindowResult& window : result.windows) {
    const bool counts = has_tests ? IsTest(window) : window.kind == WindowKind::kProgram;
    if (!counts) continue;
    outstanding += window.outstanding;
    lost += window.lost;
  }
  return Measurement("outstanding bytes", outstanding.bytes) +
         Measurement("outstanding blocks", outstanding.blocks) +
         Measurement("lost bytes", lost.bytes);
}

}  // namespace leakgate
