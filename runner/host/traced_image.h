// A traced program image, and what runs and sessions report about it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "runner/base/descriptors.h"
#include "runner/process/process_image.h"
#include "runner/region/region_file.h"

namespace leakgate {

// One program image of a process, from its first instruction until the process ends or executes
// another program. Its region outlives the process.
//
// Runs (run/judged_process.h) and sessions (sessions/session_processes.h) each add the thread that
// answers the image's questions.
class TracedImage {
 public:
  // How many descriptors one image needs: one for the region, one to see the process's end.
  static constexpr std::size_t kDescriptors = 2;

  // `program` is what the region's process executes now. Without it, /proc is read.
  explicit TracedImage(std::unique_ptr<RegionFile> region);
  TracedImage(std::unique_ptr<RegionFile> region, ExecutedProgram program);

  int pid() const { return region_->pid(); }
  const ExecutedProgram& program() const { return program_; }
  std::chrono::system_clock::time_point begin() const { return begin_; }
  const RegionReader& region() const { return region_->reader(); }
  RegionFile& region_file() { return *region_; }
  // The region's descriptor belongs to this object; DuplicateRegion's belongs to the caller.
  int region_fd() const { return region_->fd().get(); }
  [[nodiscard]] UniqueFd DuplicateRegion() const;
  // Returns how many bytes of memory the region takes now.
  [[nodiscard]] std::uint64_t HeldBytes() const { return region_->HeldBytes(); }

  // Returns whether the process has ended. Any thread may call it.
  [[nodiscard]] bool HasEnded() const;

 private:
  std::unique_ptr<RegionFile> region_;
  const ExecutedProgram program_;
  const std::chrono::system_clock::time_point begin_ = std::chrono::system_clock::now();
  const UniqueFd end_;  // readable once the process has ended
};

enum class ProcessState {
  kTracing,
  kStarting,  // it was given a region, but its agent has not started to trace
  kFailed,    // its agent could not trace; `problem` says why
  kDisabled,  // it still runs, but is no longer traced
  kEnded,
};

// What a run or a session reports of one process that it traces.
struct ProcessStatus {
  int pid = 0;
  // Counts the programs that were traced under the PID, whichever processes had it: with the PID it
  // names one program of a run or session.
  std::uint32_t generation = 1;
  ExecutedProgram program{};
  ProcessState state = ProcessState::kTracing;
  std::string problem{};
  std::int64_t begin_seconds = 0;  // since 1970; 0 if unknown
  std::uint64_t start_time = 0;    // as from StartTimeOf; 0 if unknown
  Totals totals{};
  std::uint64_t drops = 0;
  // When tracing began in a running process, in seconds since 1970: earlier allocations are
  // unknown. It is 0 if tracing began with the program.
  std::int64_t attached_seconds = 0;
  // Why its recording fails; empty if it does not, or if there is none.
  std::string recording_problem{};
};

// A traced process with its region, as it is given to a command that asks for it.
struct ProcessRegion {
  ProcessStatus status;
  UniqueFd region;  // belongs to this object
};

// Returns the processes that have not been judged yet, the program first. Any thread may call it.
using RunProcesses = std::function<std::vector<ProcessRegion>()>;

enum class ImageLife { kExecuting, kOver };

// Returns the status in `region`, which does not contain the PID, the program and its begin.
[[nodiscard]] ProcessStatus StatusOf(const RegionReader& region, ImageLife life);

// Returns the status of `image` without its begin.
[[nodiscard]] ProcessStatus StatusOf(const TracedImage& image, ImageLife life);

// Says why the agent did not start to trace, and what to do.
[[nodiscard]] std::string AgentFailureText(AgentFailure failure);

// Returns the word for a state in answers and on the screen.
[[nodiscard]] const char* WordOf(ProcessState state);
[[nodiscard]] nlohmann::json ToJson(const ProcessStatus& process);
// A member that is missing in `body`, or is of another type, keeps its default.
[[nodiscard]] ProcessStatus ProcessFromJson(const nlohmann::json& body);

// How many descriptors this process may still open. Each traced image needs some for as long as
// it is kept; the reserved ones stay free for commands that connect.
struct DescriptorRoom {
  std::size_t limit = 0;     // of this process (ulimit -n)
  std::size_t reserved = 0;  // part of `limit` that traced images may not use

  // Returns whether `count` more can be opened without touching the reserved ones.
  [[nodiscard]] bool Has(std::size_t count) const;
};

[[nodiscard]] DescriptorRoom OwnDescriptorRoom();

}  // namespace leakgate
