// One program that a session traces: its region, which outlives the process, and the
// thread that answers what its agent asks: tests in it go on without a verdict, and the
// program's own code is told what it measures.
#pragma once

#include <chrono>
#include <memory>

#include "runner/base/descriptors.h"
#include "runner/named_session/image_selector.h"
#include "runner/session/code_calls.h"
#include "runner/session/linux/region_file.h"
#include "runner/session/mailbox_server.h"

namespace leakgate {

class TracedImage {
 public:
  // Of the region, and to see the process's end.
  static constexpr std::size_t kDescriptors = 2;

  // The owner of a region, all but where boundaries come from: it executes `program` now.
  [[nodiscard]] static Expected<std::unique_ptr<TracedImage>> Trace(RegionOwner owner,
                                                                    ExecutedProgram program);

  int pid() const { return region_->pid(); }
  const ExecutedProgram& program() const { return program_; }
  std::chrono::system_clock::time_point begin() const { return begin_; }
  const RegionReader& region() const { return region_->reader(); }
  const UniqueFd& region_fd() const { return region_->fd(); }

  // The process has ended, or executes another program.
  [[nodiscard]] bool IsOver() const;
  // Another image of the process is traced.
  void NoteReplaced() { is_replaced_ = true; }
  // Of one that is over: nobody asks any more.
  void StopAnswering() { answers_->Stop(); }

 private:
  TracedImage(std::unique_ptr<RegionFile> region, ExecutedProgram program);

  void Answer(Mailbox& mailbox);

  std::unique_ptr<RegionFile> region_;
  Symbolizer symbolizer_;
  CodeCalls code_calls_;
  ExecutedProgram program_;
  const std::chrono::system_clock::time_point begin_ = std::chrono::system_clock::now();
  UniqueFd end_;  // readable at the process's end
  bool is_replaced_ = false;
  std::unique_ptr<MailboxServer> answers_;  // last: it uses the region
};

}  // namespace leakgate
