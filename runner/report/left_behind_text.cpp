#include "runner/report/left_behind_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "runner/attribution/call_sites.h"
#include "runner/region/amount.h"
#include "runner/report/excess.h"
#include "runner/report/finding_fate.h"
#include "runner/report/finding_text.h"
#include "runner/report/window_name.h"
#include "runner/result/words.h"

namespace leakgate {
namespace {

bool IsPassed(const Finding& finding) {
  switch (finding.disposition) {
    case Disposition::kAllowed:
    case Disposition::kOtherThread:
    case Disposition::kReplaced:
    case Disposition::kReleasedLater:
    case Disposition::kOneTime:
    case Disposition::kBounded:
    case Disposition::kKnown:
      return true;
    case Disposition::kOutstanding:
    case Disposition::kFramework:
    case Disposition::kSteady:
    case Disposition::kUnconfirmed:
      break;
  }
  return false;
}

// What many windows leave behind alike is one line.
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

}  // namespace

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
  if (IsOverLimit(window)) return MappingsText(window, style);
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

}  // namespace leakgate
