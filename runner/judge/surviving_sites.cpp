#include "runner/judge/surviving_sites.h"

#include <fmt/format.h>

#include <algorithm>

#include "runner/attribution/call_sites.h"

namespace leakgate {
namespace {

// A static variable's initialiser has made it, or a listener keeps it.
bool IsProvenWithoutRepetition(const Finding& finding) {
  const bool is_proven =
      finding.disposition == Disposition::kOneTime || finding.disposition == Disposition::kBounded;
  return is_proven && finding.series.empty();
}

bool Survives(const Finding& finding) {
  if (!IsUsers(finding) || IsLost(finding.reach)) return false;
  if (IsProvenWithoutRepetition(finding)) return false;
  switch (finding.disposition) {
    case Disposition::kOneTime:
    case Disposition::kBounded:
    case Disposition::kSteady:
    case Disposition::kUnconfirmed:
      return true;
    case Disposition::kOutstanding:
    case Disposition::kFramework:
    case Disposition::kAllowed:
    case Disposition::kOtherThread:
    case Disposition::kReplaced:
    case Disposition::kReleasedLater:
    case Disposition::kKnown:
      break;
  }
  return false;
}

// A function that allocates for many is the same code in each test. So what is held by a static
// variable of a test's own function is told apart by that.
std::string SiteOf(const Finding& finding) {
  const std::string root = finding.holder.get().substr(0, finding.holder.get().find(" -> "));
  const bool is_tests = root.find("::TestBody()::") != std::string::npos;
  return SharedPathKey(finding) + (is_tests ? root : "");
}

bool WasSeenToGrow(const Finding& finding) {
  return std::any_of(finding.series.begin(), finding.series.end(),
                     [](std::int64_t net) { return net > 0; });
}

}  // namespace

SurvivingSites FindSurvivingSites(const std::vector<WindowResult>& windows) {
  SurvivingSites sites;
  for (const WindowResult& window : windows) {
    if (window.kind != WindowKind::kTest) continue;
    for (const Finding& finding : window.findings) {
      if (!Survives(finding)) continue;
      std::vector<std::string>& tests = sites[SiteOf(finding)];
      const bool is_known = std::find(tests.begin(), tests.end(), window.name) != tests.end();
      if (!is_known) tests.push_back(window.name);
    }
  }
  std::erase_if(sites, [](const auto& site) { return site.second.size() < kManyTests; });
  return sites;
}

const std::vector<std::string>* WhereItStays(const Finding& finding, const SurvivingSites& sites) {
  const bool has_passed =
      finding.disposition == Disposition::kOneTime || finding.disposition == Disposition::kBounded;
  if (!has_passed || WasSeenToGrow(finding) || IsProvenWithoutRepetition(finding)) return nullptr;
  const auto site = sites.find(SiteOf(finding));
  return site == sites.end() ? nullptr : &site->second;
}

void MarkSurviving(const std::vector<std::string>& tests, Finding& finding) {
  finding.disposition = Disposition::kUnconfirmed;
  finding.explanation = fmt::format(
      "repeated alone, the test leaves no more, but blocks of this code stay from {} tests of this "
      "run, as {} and {}",
      tests.size(), tests.front(), tests.back());
}

}  // namespace leakgate
