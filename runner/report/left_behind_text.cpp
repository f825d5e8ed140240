#include "runner/report/left_behind_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>

#include "runner/attribution/call_sites.h"
#include "runner/base/path_text.h"
#include "runner/region/amount.h"
#include "runner/report/excess.h"
#include "runner/report/finding_text.h"
#include "runner/report/window_text.h"
#include "runner/result/words.h"

namespace leakgate {

namespace {

// A line for all windows that leave the same behind.
struct LeftSite {
  std::string text;  // the call site and what became of it
  Amount amount;
  std::vector<std::string> windows;
};

void Add(const WindowResult& window, const Finding& finding, const std::string& text,
         std::vector<LeftSite>& sites) {
  auto site = std::find_if(sites.begin(), sites.end(),
                           [&text](const LeftSite& known) { return known.text == text; });
  if (site == sites.end()) site = sites.insert(sites.end(), {text, {}, {}});
  site->amount += finding.amount;
  const std::string name = WindowName(window);
  if (site->windows.empty() || site->windows.back() != name) site->windows.push_back(name);
}

std::string SitesText(const std::vector<LeftSite>& sites, std::string (*format)(Amount),
                      const TextStyle& style) {
  std::string text;
  for (const LeftSite& site : sites) {
    const std::string line =
        fmt::format("{} {} ({})", format(site.amount), site.text, FirstNames(site.windows));
    text += "    " + Printable(WithRelativePaths(line, style.base_directory)) + '\n';
  }
  return text;
}

struct PassedFate {
  Disposition disposition;
  std::string_view noun;  // in the singular; its plural takes an s
};

constexpr std::array kPassedFates = {
    PassedFate{Disposition::kOneTime, "one-time initialisation"},
    PassedFate{Disposition::kBounded, "bounded cache"},
    PassedFate{Disposition::kReplaced, "replacement"},
    PassedFate{Disposition::kReleasedLater, "late release"},
    PassedFate{Disposition::kAllowed, "allowed finding"},
};

std::map<Disposition, std::int64_t> CountFates(const std::vector<WindowResult>& windows) {
  std::map<Disposition, std::int64_t> counts;
  for (const WindowResult& window : windows) {
    if (window.kind != WindowKind::kTest) continue;
    for (const Finding& finding : window.findings) ++counts[finding.disposition];
  }
  return counts;
}

bool IsOver(const WindowResult& window, bool (*is_of)(const Violation&)) {
  return std::any_of(window.violations.begin(), window.violations.end(), is_of);
}

bool IsOfLimit(const Violation& violation) { return IsOf(violation, Quantity::kMapped); }

bool IsCounted(const Finding& finding) { return IsUsers(finding) && CountsLiterally(finding); }

// Over a limit, all that counts; else what grows, and what may.
std::string MappingsText(const WindowResult& window, const TextStyle& style) {
  const bool is_over_limit = IsOver(window, IsOfLimit);
  std::vector<const Finding*> counted;
  for (const Finding& finding : window.mappings) {
    const bool may_grow = finding.disposition == Disposition::kSteady ||
                          finding.disposition == Disposition::kUnconfirmed;
    if (is_over_limit ? IsCounted(finding) : may_grow) counted.push_back(&finding);
  }
  return FirstFindingsText(counted, "more call site", style);
}

}  // namespace

std::string PassedFates(const std::vector<WindowResult>& windows) {
  std::map<Disposition, std::int64_t> counts = CountFates(windows);
  std::vector<std::string> parts;
  for (const PassedFate& fate : kPassedFates) {
    const std::int64_t count = counts[fate.disposition];
    if (count != 0) parts.push_back(FormatCount(count, fate.noun));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string PassedFindingsText(const std::vector<WindowResult>& windows, const TextStyle& style) {
  std::vector<LeftSite> sites;
  for (const WindowResult& window : windows) {
    if (window.kind != WindowKind::kTest) continue;
    for (const Finding& finding : window.findings) {
      if (!IsPassed(finding)) continue;
      Add(window, finding, fmt::format("by {}: {}", DescribeCallSite(finding), FateText(finding)),
          sites);
    }
  }
  return SitesText(sites, FormatAmount, style);
}

std::string MappedText(const WindowResult& window, const TextStyle& style) {
  if (IsOver(window, IsOfMappings) || window.verdict == Verdict::kUnconfirmed) {
    return MappingsText(window, style);
  }
  if (window.mapped == Amount{}) return "";
  const std::string text =
      fmt::format("mapped: {}, {}", FormatMapped(window.mapped),
                  IsLimited(window.budget->mapped) ? "within its limit" : "not limited");
  return "  " + Paint(text, Emphasis::kInTheDistance, style.colour) + '\n';
}

std::string MappedSitesText(const std::vector<WindowResult>& windows, const TextStyle& style) {
  std::vector<LeftSite> sites;
  for (const WindowResult& window : windows) {
    for (const Finding& finding : window.mappings) {
      const std::string fate = FateText(finding);
      Add(window, finding,
          fmt::format("by {}: {}{}{}", DescribeCallSite(finding), Word(finding.kind),
                      fate.empty() ? "" : ", ", fate),
          sites);
    }
  }
  return SitesText(sites, FormatMapped, style);
}

namespace {

std::string SiteLine(const Finding& finding, const TextStyle& style) {
  const std::string line =
      fmt::format("{} by {}", FormatAmount(finding.amount), DescribeCallSite(finding));
  return "  " + Printable(WithRelativePaths(line, style.base_directory)) + '\n';
}

std::string NotCountedLine(const Finding& finding, const TextStyle& style) {
  const std::string fate = FateText(finding);
  const std::string line =
      fmt::format("not counted: {} by {}: {}", FormatAmount(finding.amount),
                  DescribeCallSite(finding), fate.empty() ? finding.framework_rule.get() : fate);
  return "  " + Printable(WithRelativePaths(line, style.base_directory)) + '\n';
}

// Collects lines as long as they fit.
class LimitedText {
 public:
  explicit LimitedText(std::size_t room) : room_(room) {}

  // Adds `lines`. Returns false if the text would be longer than `limit` or the room.
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
                         {.base_directory = PathText(std::filesystem::current_path(error))}, room);
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
