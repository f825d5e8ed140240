// What a process has loaded: which part an address belongs to, where the functions are that
// attaching calls, and the agent if the process has one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/attach_point.h"
#include "runner/attach/linux/remote_calls.h"
#include "runner/attach/linux/target_module.h"
#include "runner/base/expected.h"
#include "runner/process/proc_files.h"

namespace leakgate {

// A copy of an agent's attach point (common/attach_point.h), which is the state of process `pid`.
struct AttachPointCopy {
  std::uint32_t layout_version = 0;
  AttachState state = AttachState::kUnready;
  AttachOutcome outcome = AttachOutcome::kNone;
  int pid = 0;
  int runner_pid = 0;
  bool is_loaded_late = false;
  int slots_changed = 0;
  int slots_unresolved = 0;
  std::uint64_t enable = 0;  // the address of a function, as are the next three
  std::uint64_t redirect_again = 0;
  std::uint64_t disable = 0;
  std::uint64_t release = 0;
};

// The part of the process that an address is in.
enum class FrameOwner {
  kProgram,  // anything else
  kCLibrary,
  kDynamicLinker,
  kAllocator,  // a library that defines malloc
  kAgent,
  kUnknown,  // no module
};

class TargetLayout {
 public:
  // Fails if the C library is not a known one, or if the process ends. The error says what to do.
  [[nodiscard]] static Expected<TargetLayout> Read(const TargetMemory& memory);

  const RemoteLibrary& library() const { return library_; }
  std::uint64_t dlopen() const { return dlopen_; }
  const std::optional<TargetModule>& agent() const { return agent_; }
  // The address of the agent's attach point; 0 if there is no agent, or if it has none.
  std::uint64_t attach_point() const { return attach_point_; }

  [[nodiscard]] FrameOwner OwnerOf(std::uint64_t address) const;
  // The names that the C library exports for the function that `address` is in.
  [[nodiscard]] std::vector<std::string_view> LibraryNamesAt(std::uint64_t address) const {
    return libc_->NamesAt(address);
  }

  // Returns whether the process has not executed another program since `memory` was opened.
  [[nodiscard]] bool StillHolds(const TargetMemory& memory) const;

 private:
  TargetLayout() = default;
  static Expected<TargetLayout> ReadLoaded(const TargetMemory& memory);
  void FindAllocators(const TargetMemory& memory, const std::vector<MappedRange>& maps);

  std::vector<MappedRange> maps_;
  std::optional<TargetModule> libc_;
  std::optional<TargetModule> linker_;
  std::optional<TargetModule> agent_;
  std::vector<std::string> allocators_;  // paths of libraries that define malloc
  RemoteLibrary library_;
  std::uint64_t dlopen_ = 0;
  std::uint64_t attach_point_ = 0;
};

// Returns whether the dynamic linker loads something: what the program is linked with, before that
// begins, or what the program asks for. It keeps this for debuggers (_r_debug, <link.h>).
[[nodiscard]] bool IsLoading(const TargetMemory& memory);

// Returns the agent's attach point as it is now; nothing if there is none at `address`.
[[nodiscard]] std::optional<AttachPointCopy> ReadAttachPoint(const TargetMemory& memory,
                                                             std::uint64_t address);

}  // namespace leakgate
