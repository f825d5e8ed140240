// One program image of a process, from its first instruction until the process ends or executes
// another program: its region, which outlives the process, and the thread that answers what the
// image asks through the region's mailbox.
//
// Any image may ask what its measuring windows hold (leakgate::Window), and for what only a
// profiler knows, such as a snapshot. What else it asks is for whoever traces it:
//
//   run/judged_process.h             gives verdicts
//   run/iteration_counts.h           counts what is live as iterations end
//   profiling/recorded_image.h,
//   sessions/session_processes.h     answer nothing else: tests go on without a verdict
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "runner/base/descriptors.h"
#include "runner/host/mailbox_server.h"
#include "runner/host/process_status.h"
#include "runner/judge/window_meter.h"
#include "runner/process/process_image.h"
#include "runner/region/region_file.h"
#include "runner/symbols/symbolizer.h"

namespace leakgate {

enum class WatchesEnd { kYes, kNo };

struct ImageTracing {
  std::unique_ptr<RegionFile> region;  // the process has not been given it yet
  Symbolizer& symbolizer;              // used by the image's thread; must outlive the image
  MakeAnswerer profiler;               // if null, what only a profiler knows is refused
  // Answers all questions, on the image's thread. If it is null, AnswerCommon does.
  MailboxServer::Answer answer = nullptr;
  // What the process executes now; if it is not given, /proc is read.
  std::optional<ExecutedProgram> program{};
  WatchesEnd watches_end = WatchesEnd::kYes;  // kNo: HasEnded is not asked, and takes no descriptor
};

class TracedImage {
 public:
  // How many descriptors one image needs: one for the region, one to see the process's end.
  static constexpr std::size_t kDescriptors = 2;

  explicit TracedImage(ImageTracing tracing);

  int pid() const { return region_->pid(); }
  const ExecutedProgram& program() const { return program_; }
  std::chrono::system_clock::time_point begin() const { return begin_; }
  const RegionReader& region() const { return region_->reader(); }
  RegionFile& region_file() { return *region_; }
  // The region's descriptor belongs to this object.
  int region_fd() const { return region_->fd().get(); }
  // Returns a descriptor of the region of the caller's own.
  [[nodiscard]] UniqueFd DuplicateRegion() const { return region_->DuplicateFd(); }
  // Returns how many bytes of memory the region takes now.
  [[nodiscard]] std::uint64_t HeldBytes() const { return region_->HeldBytes(); }

  // Answers what any image may ask, and returns true. Any other question is answered by "within
  // budget", with which the process continues.
  [[nodiscard]] bool AnswerCommon(Mailbox& mailbox);
  // After it returns, no question is answered any more. Whoever gave an answer calls it before what
  // that uses is gone. A second call does nothing.
  void StopAnswering() { server_.Stop(); }
  // REQUIRES: the image's thread does not use it.
  WindowMeter& meter() { return meter_; }

  // Returns whether the process has ended. Any thread may call it.
  [[nodiscard]] bool HasEnded() const;
  // Returns its status and its region, for commands that ask. Any thread may call it.
  [[nodiscard]] ProcessRegion Describe(ImageLife life) const;

 private:
  std::unique_ptr<RegionFile> region_;
  const ExecutedProgram program_;
  const std::chrono::system_clock::time_point begin_ = std::chrono::system_clock::now();
  const UniqueFd end_;  // readable once the process has ended
  WindowMeter meter_;
  const AnswerMore profiler_;
  MailboxServer server_;  // the last member, because it uses the others
};

// Returns the status of `image` without its begin.
[[nodiscard]] ProcessStatus StatusOf(const TracedImage& image, ImageLife life);

}  // namespace leakgate
