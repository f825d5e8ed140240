// What a process is traced into and what is known of it: one program image, from its first
// instruction until it ends or executes another program. Its region outlives the process.
//
// Runs (run/judged_process.h) and sessions (sessions/session_image.h) each add the thread that
// answers what the image asks.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runner/base/descriptors.h"
#include "runner/process/process_image.h"
#include "runner/region/linux/region_file.h"

namespace leakgate {

class TracedImage {
 public:
  // How many descriptors it takes: for the region, and to see the process's end.
  static constexpr std::size_t kDescriptors = 2;

  // `program` is what the region's process executes now; the kernel is asked if it is not given.
  explicit TracedImage(std::unique_ptr<RegionFile> region);
  TracedImage(std::unique_ptr<RegionFile> region, ExecutedProgram program);

  int pid() const { return region_->pid(); }
  const ExecutedProgram& program() const { return program_; }
  std::chrono::system_clock::time_point begin() const { return begin_; }
  const RegionReader& region() const { return region_->reader(); }
  RegionFile& region_file() { return *region_; }
  const RegionFile& region_file() const { return *region_; }
  // The region's descriptor. It belongs to this object; DuplicateRegion's belongs to the caller.
  int region_fd() const { return region_->fd().get(); }
  [[nodiscard]] UniqueFd DuplicateRegion() const;

  // Whether the process has ended. Any thread.
  [[nodiscard]] bool HasEnded() const;

 private:
  std::unique_ptr<RegionFile> region_;
  const ExecutedProgram program_;
  const std::chrono::system_clock::time_point begin_ = std::chrono::system_clock::now();
  const UniqueFd end_;  // readable at the process's end
};

// A process that a run traces, as others may ask for it while the run goes on.
struct RunProcess {
  int pid = 0;
  std::string image;  // the file that it executes
  std::vector<std::string> arguments;
  bool has_ended = false;  // or executes another program
  UniqueFd region{};       // a descriptor of its own
};

// Returns the processes that have not been judged yet, the program first. Any thread may call it.
using RunProcesses = std::function<std::vector<RunProcess>()>;

// How many descriptors this process may still open. Each traced image takes some for as long as
// it is kept; others must be left for commands that connect, or none would be answered.
struct DescriptorRoom {
  std::size_t limit = 0;     // of the process: ulimit -n
  std::size_t reserved = 0;  // of those: not for traced images

  // Whether `count` more can be opened without touching the reserved ones.
  [[nodiscard]] bool Has(std::size_t count) const;
};

[[nodiscard]] DescriptorRoom OwnDescriptorRoom();

}  // namespace leakgate
