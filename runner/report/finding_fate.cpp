#include "runner/report/finding_fate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "runner/region/quantity_text.h"

namespace leakgate {
namespace {

// The values of a long series are summed up by the explanation.
constexpr std::size_t kMostValues = 5;

std::string ValuesText(const std::vector<std::int64_t>& series,
                       std::string (*format)(std::int64_t)) {
  const std::size_t count = std::min(series.size(), kMostValues);
  std::vector<std::string> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(format(series[i]));
  return fmt::format("{}", fmt::join(values, " "));
}

std::string WithSign(std::int64_t blocks) { return fmt::format("{:+}", blocks); }

std::string BytesWithSign(std::int64_t bytes) {
  return (bytes < 0 ? "" : "+") + FormatBytes(bytes);
}

// What grows in bytes alone would look like nothing in blocks.
bool GrowsInBytesAlone(const Finding& finding) {
  for (std::size_t i = 0; i < std::min(finding.series.size(), finding.series_bytes.size()); ++i) {
    if (finding.series_bytes[i] > 0 && finding.series[i] <= 0) return true;
  }
  return false;
}

std::string SeriesText(const Finding& finding) {
  if (finding.series.empty()) return "";
  std::string text = fmt::format(", repeated: {} blocks", ValuesText(finding.series, WithSign));
  if (GrowsInBytesAlone(finding)) {
    text += ", " + ValuesText(finding.series_bytes, BytesWithSign);
  }
  return text;
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
