// Runs a program with the agent in it, as a session does. The constructor waits until the program
// says that it is ready, and the destructor kills it.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "runner/host/control_server.h"
#include "runner/reach/find_reach.h"
#include "runner/region/region_file.h"
#include "runner/run/launcher.h"

namespace leakgate::test {

class TracedProgram {
 public:
  // Throws std::runtime_error if the program does not get ready, or is not traced.
  explicit TracedProgram(const std::string& program,
                         const std::vector<std::string>& arguments = {});
  ~TracedProgram();
  TracedProgram(const TracedProgram&) = delete;
  TracedProgram& operator=(const TracedProgram&) = delete;

  int pid() const { return pid_; }
  SuspendedProcess& process() { return *process_; }
  const RegionReader& region() const { return region_.load()->reader(); }

  // Returns the live blocks of `size` bytes, sorted by address.
  std::vector<LiveBlock> BlocksOf(std::uint64_t size) const;
  // Returns what FindReach tells of those blocks.
  std::vector<BlockReach> ReachOf(std::uint64_t size);
  // Returns whether FindAllLost tells that the blocks of `sizes` are all lost.
  bool AreAllLost(const std::vector<std::uint64_t>& sizes);

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
