#include "runner/report/passed_findings.h"

#include <fmt/format.h>

#include <algorithm>

#include "runner/attribution/call_sites.h"
#include "runner/region/quantity_text.h"
#include "runner/report/finding_fate.h"
#include "runner/report/finding_text.h"
#include "runner/report/window_name.h"

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

// What many tests leave behind alike is one line.
struct PassedSite {
  std::string text;  // the call site and its fate
  Amount amount;
  std::vector<std::string> tests;
};

void Add(const WindowResult& window, const Finding& finding, std::vector<PassedSite>& sites) {
  const std::string text = fmt::format("by {}: {}", DescribeCallSite(finding), FateText(finding));
  auto site = std::find_if(sites.begin(), sites.end(),
                           [&text](const PassedSite& known) { return known.text == text; });
  if (site == sites.end()) site = sites.insert(sites.end(), {text, {}, {}});
  site->amount += finding.amount;
  const std::string name = WindowName(window);
  if (site->tests.empty() || site->tests.back() != name) site->tests.push_back(name);
}

}  // namespace

std::string PassedFindingsText(const std::vector<WindowResult>& windows, const TextStyle& style) {
  std::vector<PassedSite> sites;
  for (const WindowResult& window : windows) {
    if (window.kind != WindowKind::kTest) continue;
    for (const Finding& finding : window.findings) {
      if (IsPassed(finding)) Add(window, finding, sites);
    }
  }
  std::string text;
  for (const PassedSite& site : sites) {
    const std::string line =
        fmt::format("{} {} ({})", FormatAmount(site.amount), site.text, FirstNames(site.tests));
    text += "    " + Printable(WithRelativePaths(line, style.base_directory)) + '\n';
  }
  return text;
}

}  // namespace leakgate
