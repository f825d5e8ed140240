// The images of the one PID that is enabled: one traced process for each
// program that it executes, in the order of its execs.
//
// RegionFor is called on the control server's thread; the rest on the main one.
// What is traced is read only once the server has stopped.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runner/run/judged_process.h"

namespace leakgate {

class Generations {
 public:
  // `snapshots` may be none. `boundaries` says where those of the tests are to come from,
  // `stack_depth` where stacks are to be cut.
  Generations(const JudgeSurroundings& surroundings, TestSnapshots* snapshots,
              BoundarySource boundaries, std::uint32_t stack_depth)
      : surroundings_(surroundings),
        snapshots_(snapshots),
        boundaries_(boundaries),
        stack_depth_(stack_depth) {}

  // From now on, and not before, `pid` is given a region.
  void Enable(int pid) { enabled_pid_.store(pid, std::memory_order_release); }

  // A fresh region's descriptor for the enabled PID, which has just executed a
  // program; -1 for any other.
  [[nodiscard]] int RegionFor(int pid);

  // REQUIRES: the control server has stopped.
  const std::vector<std::unique_ptr<JudgedProcess>>& processes() const { return processes_; }
  // Why an image could not be traced.
  const std::vector<std::string>& errors() const { return errors_; }

  // The newest, while the program runs; nullptr: none yet. Any thread.
  const JudgedProcess* latest() const { return latest_.load(std::memory_order_acquire); }

  int pid() const { return enabled_pid_.load(std::memory_order_acquire); }
  // The window that is current in the last image; its copy. Control server's thread.
  [[nodiscard]] WindowCopy CurrentWindow() const;
  [[nodiscard]] WindowCopy Window(std::uint32_t id) const;
  // To be locked while anything is judged.
  std::mutex& judging() { return judging_; }

 private:
  [[nodiscard]] Expected<int> StartNext(int pid);

  const JudgeSurroundings& surroundings_;
  TestSnapshots* const snapshots_;
  const BoundarySource boundaries_;
  const std::uint32_t stack_depth_;
  std::atomic<int> enabled_pid_{0};
  std::mutex judging_;  // of the surroundings
  std::vector<std::unique_ptr<JudgedProcess>> processes_;
  std::atomic<const JudgedProcess*> latest_{nullptr};
  std::vector<std::string> errors_;
};

// The test that was running in the last image when it ended; empty if none was.
[[nodiscard]] std::string RunningTest(const Generations& generations);

}  // namespace leakgate
