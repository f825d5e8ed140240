#include "runner/report/finding_fate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "runner/region/quantity_text.h"

namespace leakgate {
namespace {

std::string SeriesText(const Finding& finding) {
  if (finding.series.empty()) return "";
  std::vector<std::string> net;
  for (const std::int64_t blocks : finding.series) net.push_back(fmt::format("{:+}", blocks));
  // The series is its call site's, of which other findings may be, too.
  const bool is_of_more =
      *std::max_element(finding.series.begin(), finding.series.end()) > finding.amount.blocks;
  return fmt::format(", repeated: {} blocks{}", fmt::join(net, " "),
                     is_of_more ? " of its call site in all" : "");
}

std::string_view ReachWords(Reach reach) {
  switch (reach) {
    case Reach::kLost:
      return "lost";
    case Reach::kIndirectlyLost:
      return "lost with what led to it";
    case Reach::kRetained:
      return "retained";
    case Reach::kUnknown:
      break;
  }
  return "";
}

std::string_view DispositionWords(Disposition disposition) {
  switch (disposition) {
    case Disposition::kOutstanding:
    case Disposition::kFramework:
      return "";
    case Disposition::kAllowed:
      return "allowed";
    case Disposition::kOtherThread:
      return "another thread's";
    case Disposition::kReplaced:
      return "replaced";
    case Disposition::kReleasedLater:
      return "freed later";
    case Disposition::kOneTime:
      return "one-time initialisation";
    case Disposition::kBounded:
      return "bounded";
    case Disposition::kSteady:
      return "grows";
    case Disposition::kUnconfirmed:
      return "unconfirmed";
    case Disposition::kKnown:
      return "known from baseline";
  }
  return "";
}

struct Fate {
  Disposition disposition;
  std::string_view noun;  // in the singular, taking an s; empty: as the disposition
};

constexpr std::array kFates = {
    Fate{Disposition::kOneTime, "one-time initialisation"},
    Fate{Disposition::kBounded, "bounded cache"},
    Fate{Disposition::kReplaced, "replacement"},
    Fate{Disposition::kReleasedLater, "late release"},
    Fate{Disposition::kAllowed, "allowed finding"},
};

std::int64_t Count(const std::vector<WindowResult>& windows, Disposition disposition) {
  std::int64_t count = 0;
  for (const WindowResult& window : windows) {
    if (window.kind != WindowKind::kTest) continue;
    for (const Finding& finding : window.findings) {
      if (finding.disposition == disposition) ++count;
    }
  }
  return count;
}

}  // namespace

std::string FateText(const Finding& finding) {
  std::string text(ReachWords(finding.reach));
  const std::string_view disposition = DispositionWords(finding.disposition);
  if (!disposition.empty()) text += fmt::format("{}{}", text.empty() ? "" : ", ", disposition);
  text += SeriesText(finding);
  if (!finding.explanation.empty()) text += fmt::format(" ({})", finding.explanation);
  return text;
}

std::string PassedFates(const std::vector<WindowResult>& windows) {
  std::vector<std::string> parts;
  for (const Fate& fate : kFates) {
    const std::int64_t count = Count(windows, fate.disposition);
    if (count != 0) parts.push_back(FormatCount(count, fate.noun));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace leakgate
