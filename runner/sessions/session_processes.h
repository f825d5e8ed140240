// The processes of a session: which are to be traced, and what has been traced so far.
//
// A process that carries the agent asks when its program starts (OnHello). Regions of
// processes that have ended are kept, the newest of them, until the session is stopped.
// Any thread may call.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runner/host/control_server.h"
#include "runner/sessions/session_image.h"
#include "runner/sessions/session_messages.h"

namespace leakgate {

struct ProcessRegion {
  ProcessStatus status;
  UniqueFd region;  // a descriptor of its own
};

class SessionProcesses {
 public:
  // At most so many are kept that have ended, and of those that could not be traced.
  static constexpr std::size_t kMostEnded = 256;

  SessionProcesses(SessionScope scope, const StackSettings& stacks, DescriptorRoom descriptors);

  // Whether to hear what `peer` asks: as SessionUsers says. One that is of a wanted image and
  // may not be traced is noted as such.
  [[nodiscard]] bool MayServe(const ControlPeer& peer);
  // REQUIRES: MayServe.
  [[nodiscard]] HelloReply OnHello(int pid);

  // From now on, for programs that start from now on.
  void AddImage(const ImageSelector& image);
  // Returns whether it was there.
  bool DropImage(const ImageSelector& image);
  // `pid` gets a region when its agent asks, until the process ends: one that is given the
  // same number later is another.
  void AddPid(int pid);
  bool DropPid(int pid);
  [[nodiscard]] SessionScope scope() const;

  [[nodiscard]] std::vector<ProcessStatus> Query() const;
  // Of those that ended, how many have been forgotten.
  [[nodiscard]] std::uint64_t forgotten() const;
  // How many there were that could not be traced, ever.
  [[nodiscard]] std::uint64_t untraced() const;
  // Of `pid`'s program of that generation, or, for 0, its newest; none if it is not traced.
  [[nodiscard]] std::optional<ProcessRegion> RegionOf(int pid, std::uint32_t generation) const;
  // From now on no process is given a region.
  void Close();
  // Processes that are traced now.
  [[nodiscard]] std::vector<int> TracedPids() const;
  // Some have a region, and their agents have not started yet.
  [[nodiscard]] bool IsAnyStarting() const;
  [[nodiscard]] bool IsTraced(int pid) const;

 private:
  [[nodiscard]] bool IsNamed(int pid) const;
  [[nodiscard]] bool IsWantedImage(const ExecutedProgram& program) const;
  void ForgetOldest();
  [[nodiscard]] bool ForgetOneEnded();
  [[nodiscard]] bool MakeRoom();
  void NoteUntraced(int pid, ExecutedProgram program, std::string problem);

  // Why it has no region.
  struct Untraced {
    int pid = 0;
    ExecutedProgram program;
    std::string problem;
  };

  mutable std::mutex mutex_;  // of all that follows
  std::vector<ImageSelector> wanted_images_;
  std::map<int, std::uint64_t> wanted_pids_;  // when each was started
  const SessionUsers users_;
  const StackSettings stacks_;
  std::list<std::unique_ptr<SessionImage>> images_;  // oldest first
  const DescriptorRoom descriptors_;
  bool is_closed_ = false;
  std::list<Untraced> untraced_;  // oldest first, one for a PID
  std::uint64_t forgotten_untraced_ = 0;
  std::uint64_t forgotten_ = 0;
};

}  // namespace leakgate
