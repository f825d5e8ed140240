// The snapshot that the program's own code asks for (leakgate::TakeSnapshot). It is taken into
// the runner's memory, and handed to the agent in parts, which writes the file: the runner
// opens no path that a process under test names.
//
// Of one region, on the thread that answers its questions. The thread that asks waits; others
// may run on.
#pragma once

#include <string>

#include "runner/region/region_reader.h"

namespace leakgate {

class RequestedSnapshot {
 public:
  // `region` outlives this; it is its maker's own reader.
  explicit RequestedSnapshot(const RegionReader& region) : region_(region) {}

  // Answers Question::kTakeSnapshot and kReadSnapshot; false for any other question.
  // REQUIRES: AnswerNothing.
  [[nodiscard]] bool Answer(Mailbox& mailbox);

 private:
  void Take(Mailbox& mailbox);
  // Answers nothing where there is no such part.
  void Read(Mailbox& mailbox);

  const RegionReader& region_;
  std::string text_;  // of the file; empty: none has been taken, or all of it has been read
};

}  // namespace leakgate
