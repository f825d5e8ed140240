// Takes the snapshots that a program's own code asks for (leakgate::TakeSnapshot).
#pragma once

#include <functional>
#include <string>

#include "common/region_layout.h"
#include "runner/region/region_reader.h"

namespace leakgate {

// A snapshot is taken into the runner's memory and handed in parts to the agent, which writes the
// file: the runner opens no path that a process under test names.
//
// It serves one region, on the thread that answers the region's questions. The asking thread
// waits meanwhile; other threads of the process may run.
class RequestedSnapshot {
 public:
  // `region` must outlive this object.
  explicit RequestedSnapshot(const RegionReader& region) : region_(region) {}

  // Answers Question::kTakeSnapshot and kReadSnapshot; returns false for any other question.
  // REQUIRES: the answer in the mailbox is "nothing".
  [[nodiscard]] bool Answer(Mailbox& mailbox);

 private:
  void Take(Mailbox& mailbox);
  // Leaves the mailbox as it is if the requested part does not exist.
  void Read(Mailbox& mailbox);

  const RegionReader& region_;
  std::string
      text_;  // the snapshot file's content; empty before a snapshot and after its last part
};

// Returns a function that answers these questions for `region`, which must outlive it.
[[nodiscard]] std::function<bool(Mailbox& mailbox)> AnswerSnapshotRequests(
    const RegionReader& region);

}  // namespace leakgate
