// What a program's agent has noted of the processes that the program started
// (common/nt_child_notes.h), for the control server's thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "runner/base/descriptors.h"
#include "runner/host/control_server.h"

namespace leakgate {

struct NotedChild {
  std::uint64_t began = 0;  // as GetProcessTimes has it
  BeginTimes times;
  std::wstring image;
  std::optional<std::wstring> command_line;  // nothing if it was too long for the note
};

class ChildNotes {
 public:
  // Without memory to map that part of the region, nothing is noted.
  explicit ChildNotes(const UniqueFd& region);

  // Returns the note of a process with this PID. If it is not known when that began, it is the
  // oldest one after those that this has been called for before. REQUIRES: called for each
  // process once, in the order in which they began.
  [[nodiscard]] std::optional<NotedChild> Take(int pid, std::optional<std::uint64_t> began);

 private:
  Mapping memory_;
  std::map<int, std::uint64_t> last_;  // when the last one began, by PID
};

}  // namespace leakgate
