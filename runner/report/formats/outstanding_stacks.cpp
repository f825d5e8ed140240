#include "runner/report/formats/outstanding_stacks.h"

#include "runner/report/formats/call_site.h"
#include "runner/report/style.h"
#include "runner/report/window_name.h"

namespace leakgate {

void VisitOutstanding(
    const RunResult& run,
    const std::function<void(const WindowResult& window, const Finding& finding)>& visit) {
  for (const WindowResult& window : run.windows) {
    for (const Finding& finding : window.findings) {
      if (finding.disposition != Disposition::kFramework) visit(window, finding);
    }
  }
}

std::string RootName(const WindowResult& window) { return Printable(PlainWindowName(window)); }

std::string ProfileFrameName(const Frame& frame) { return Printable(FrameName(frame)); }

}  // namespace leakgate
