#include "runner/report/mapped_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "runner/attribution/call_sites.h"
#include "runner/region/quantity_text.h"
#include "runner/report/excess.h"
#include "runner/report/finding_fate.h"
#include "runner/report/finding_text.h"
#include "runner/report/json/words.h"
#include "runner/report/window_name.h"

namespace leakgate {
namespace {

constexpr std::size_t kMostFindings = 10;

bool IsOverLimit(const WindowResult& window) {
  return std::any_of(window.violations.begin(), window.violations.end(),
                     [](const Violation& violation) { return IsOf(violation, "mapped"); });
}

bool Counts(const Finding& finding) { return IsUsers(finding) && CountsLiterally(finding); }

std::string MappingsText(const WindowResult& window, const TextStyle& style) {
  std::string text;
  std::size_t shown = 0;
  Amount left_out;
  std::int64_t more = 0;
  for (const Finding& finding : window.mappings) {
    if (!Counts(finding)) continue;
    if (shown++ < kMostFindings) {
      text += FindingText(finding, style);
    } else {
      left_out += finding.amount;
      ++more;
    }
  }
  if (more == 0) return text;
  return text + fmt::format("  and {} ({}); all are in the JSON report\n",
                            FormatCount(more, "more call site"), FormatBytes(left_out.bytes));
}

// What many windows leave mapped alike is one line.
struct MappedSite {
  std::string text;  // the call site, what it mapped, and its fate
  Amount amount;
  std::vector<std::string> windows;
};

void Add(const WindowResult& window, const Finding& finding, std::vector<MappedSite>& sites) {
  const std::string fate = FateText(finding);
  const std::string text = fmt::format("by {}: {}{}{}", DescribeCallSite(finding),
                                       Word(finding.kind), fate.empty() ? "" : ", ", fate);
  auto site = std::find_if(sites.begin(), sites.end(),
                           [&text](const MappedSite& known) { return known.text == text; });
  if (site == sites.end()) site = sites.insert(sites.end(), {text, {}, {}});
  site->amount += finding.amount;
  const std::string name = WindowName(window);
  if (site->windows.empty() || site->windows.back() != name) site->windows.push_back(name);
}

}  // namespace

std::string MappedText(const WindowResult& window, const TextStyle& style) {
  if (IsOverLimit(window)) return MappingsText(window, style);
  if (window.mapped == Amount{}) return "";
  const std::string text =
      fmt::format("mapped: {}, {}", FormatMapped(window.mapped),
                  IsLimited(window.budget->mapped) ? "within its limit" : "not limited");
  return "  " + Paint(text, Emphasis::kInTheDistance, style.colour) + '\n';
}

std::string MappedSitesText(const std::vector<WindowResult>& windows, const TextStyle& style) {
  std::vector<MappedSite> sites;
  for (const WindowResult& window : windows) {
    for (const Finding& finding : window.mappings) Add(window, finding, sites);
  }
  std::string text;
  for (const MappedSite& site : sites) {
    const std::string line =
        fmt::format("{} {} ({})", FormatMapped(site.amount), site.text, FirstNames(site.windows));
    text += "    " + Printable(WithRelativePaths(line, style.base_directory)) + '\n';
  }
  return text;
}

}  // namespace leakgate
