#include "runner/report/formats/stack_samples.h"

#include <utility>

#include "runner/report/formats/call_site.h"
#include "runner/report/style.h"
#include "runner/report/window_name.h"
#include "runner/result/words.h"

namespace leakgate {
namespace {

void AddOutstanding(const RunResult& run, const ProfileWriter& profile) {
  for (const WindowResult& window : run.windows) {
    const std::string root = PlainWindowName(window);
    for (const Finding& finding : window.findings) {
      if (finding.disposition == Disposition::kFramework) continue;
      profile.add(
          {.root = root,
           .frames = finding.stack,
           .amount = finding.amount,
           .component = finding.component.empty() ? window.budget->component : finding.component,
           .disposition = Word(finding.disposition)});
    }
  }
}

}  // namespace

ReportWriter ProfileOfRuns(ProfileWriter profile) {
  return {.add_baseline = {},
          .add = [profile](const RunResult& run) { AddOutstanding(run, profile); },
          .finish = profile.finish};
}

std::string ProfileFrameName(const Frame& frame) { return Printable(FrameName(frame)); }

}  // namespace leakgate
