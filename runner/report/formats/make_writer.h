// A ReportWriter from a class with Add(RunResult) and Finish(), constructed with the
// stream and the surroundings.
#pragma once

#include <memory>

#include "runner/report/report_writer.h"

namespace leakgate {

template <typename Writer>
ReportWriter MakeWriter(std::ostream& out, const ReportSurroundings& surroundings) {
  const auto writer = std::make_shared<Writer>(out, surroundings);
  return {.add_baseline = {},
          .add = [writer](const RunResult& run) { writer->Add(run); },
          .finish = [writer] { writer->Finish(); }};
}

}  // namespace leakgate
