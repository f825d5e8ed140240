// Answers what the program's own code asks (leakgate/window.h, leakgate/snapshot.h): what a
// measuring window has outstanding, and snapshots. One thread at a time.
#pragma once

#include "runner/session/window_meter.h"

namespace leakgate {

class CodeCalls {
 public:
  // Both outlive this.
  CodeCalls(const RegionReader& region, Symbolizer& symbolizer)
      : region_(region), meter_(region, symbolizer) {}

  // False: the question is none of the code's. REQUIRES: AnswerNothing.
  bool Answer(Mailbox& mailbox);

  WindowMeter& meter() { return meter_; }

 private:
  const RegionReader& region_;
  WindowMeter meter_;
};

}  // namespace leakgate
