// Measures the measuring windows of one region (leakgate::Window in the program's code),
// and keeps what they had outstanding as they ended. No verdict depends on it. One thread
// at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "runner/attribution/call_sites.h"
#include "runner/region/region_reader.h"
#include "runner/result/run_result.h"
#include "runner/symbols/symbolizer.h"

namespace leakgate {

class WindowMeter {
 public:
  // Describes findings in at most `room` bytes, for the code that asks, as reports do.
  using Words = std::function<std::string(const std::vector<Finding>& findings, std::size_t room)>;

  // `region` and `symbolizer` outlive this.
  WindowMeter(const RegionReader& region, Symbolizer& symbolizer, Words words);

  // Answers Question::kMeasure and kMeasureAtEnd; false for any other question.
  // REQUIRES: AnswerWithinBudget.
  [[nodiscard]] bool Answer(Mailbox& mailbox);

  // Measures the windows that never ended. REQUIRES: the process has gone.
  void EndAll();

  // Returns the results of the windows that were opened while `window` was current.
  [[nodiscard]] std::vector<MeasuringWindowResult> ResultsOf(std::uint32_t window) const;

 private:
  // Identifies a line of code within a window.
  using Place = std::tuple<std::uint32_t, std::string, std::string, int>;

  // Returns what is outstanding, by call site. `asking_tid` as in ReadSettledBlocks.
  Expected<std::vector<Finding>> Measure(const MeasuringWindowCopy& window, int asking_tid);
  void NoteEnd(const MeasuringWindowCopy& window, Amount outstanding);

  void AnswerFor(const MeasuringWindowCopy& window, Mailbox& mailbox);
  void WriteWords(const std::vector<Finding>& findings, Mailbox& mailbox) const;

  const RegionReader& region_;
  const Words words_;
  CallSites sites_;
  std::map<Place, MeasuringWindowResult> ended_;
};

}  // namespace leakgate
