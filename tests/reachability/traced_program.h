// Runs a program with the agent in it, as a session does, and waits until it says
// that it is ready; kills it in the end.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "runner/host/control_server.h"
#include "runner/host/region_file.h"
#include "runner/reachability/linux/tell_reach.h"
#include "runner/run/linux/launcher.h"

namespace leakgate::test {

class TracedProgram {
 public:
  // Throws std::runtime_error where it does not come so far.
  explicit TracedProgram(const std::string& program,
                         const std::vector<std::string>& arguments = {});
  ~TracedProgram();
  TracedProgram(const TracedProgram&) = delete;
  TracedProgram& operator=(const TracedProgram&) = delete;

  int pid() const { return pid_; }
  SuspendedProcess& process() { return *process_; }
  const RegionReader& region() const { return region_.load()->reader(); }

  // The live blocks of `size` bytes, by address.
  std::vector<LiveBlock> BlocksOf(std::uint64_t size) const;
  // What is told of them.
  std::vector<BlockReach> ReachOf(std::uint64_t size);

 private:
  int RegionFor(int pid);
  void WaitUntilReady(int output) const;

  std::atomic<int> pid_{0};
  std::unique_ptr<RegionFile> file_;
  std::atomic<RegionFile*> region_{nullptr};
  std::unique_ptr<ControlServer> server_;
  std::unique_ptr<SuspendedProcess> process_;
  Variables variables_;
};

}  // namespace leakgate::test
