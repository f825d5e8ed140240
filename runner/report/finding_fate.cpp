#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

#include "runner/region/quantity_text.h"
#include "runner/report/finding_text.h"

namespace leakgate {
namespace {

std::string SeriesText(const Finding& finding) {
  if (finding.series.empty()) return "";
  std::vector<std::string> net;
  for (const std::int64_t blocks : finding.series) net.push_back(fmt::format("{:+}", blocks));
  return fmt::format(", repeated: {} blocks", fmt::join(net, " "));
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

}  // namespace

std::string FateText(const Finding& finding) {
  std::string text(ReachWords(finding.reach));
  const std::string_view disposition = DispositionWords(finding.disposition);
  if (!disposition.empty()) text += fmt::format("{}{}", text.empty() ? "" : ", ", disposition);
  text += SeriesText(finding);
  if (!finding.explanation.empty()) text += fmt::format(" ({})", finding.explanation);
  return text;
}

}  // namespace leakgate
