// Answers what the program's own code asks (leakgate/window.h, leakgate/snapshot.h): what a
// measuring window has outstanding, and snapshots. One thread at a time.
#pragma once

#include "runner/session/linux/requested_snapshot.h"
#include "runner/session/window_meter.h"

namespace leakgate {

class CodeCalls {
 public:
  // Both outlive this. REQUIRES: `region` is the maker's own reader of it.
  CodeCalls(const RegionReader& region, Symbolizer& symbolizer)
      : meter_(region, symbolizer), snapshots_(region) {}

  // False: the question is none of the code's. REQUIRES: AnswerNothing.
  bool Answer(Mailbox& mailbox);

  WindowMeter& meter() { return meter_; }

 private:
  WindowMeter meter_;
  RequestedSnapshot snapshots_;
};

}  // namespace leakgate
