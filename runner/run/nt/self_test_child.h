// One program of the self-test, launched, traced and served as a run does it, up to its end.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "common/nt_self_test.h"
#include "runner/base/nt/win32.h"
#include "runner/region/event_buffers.h"
#include "runner/region/region_file.h"
#include "runner/run/launcher.h"
#include "runner/run/self_test.h"

namespace leakgate {

inline constexpr char kSelfTestProgram[] = "leakgate_self_test.exe";

// What is wrong about a row of the self-test; docs/windows.md says what each row is.
[[nodiscard]] inline Unexpected DoesNotHold(std::string what) {
  return Unexpected(Error{std::move(what)});
}

// A moment at which the program waits for the verdict on a window.
struct AtVerdict {
  const RegionReader& region;
  std::uint32_t window = 0;
  int asking_tid = 0;
  HANDLE process = nullptr;
};
// Called on another thread than the one that runs the child.
using LookAtVerdict = std::function<Expected<void>(const AtVerdict& moment)>;

// A program of the self-test, which is named by its argument.
struct SelfTestCase {
  const char* name;
  LookAtVerdict look = nullptr;  // null for cases that have no window
  unsigned exit_code = 0;
  // Called with all events, on another thread; returns how many words were whole events. No events
  // are recorded if it is null.
  std::function<std::size_t(const EventPiece& piece)> use_events = nullptr;
};

// How many live blocks of each size there are.
using BlocksBySize = std::map<std::uint64_t, std::uint64_t>;
[[nodiscard]] BlocksBySize BySize(const std::vector<LiveBlock>& blocks);
// Returns how many have `size` bytes, or up to `most_added` bytes more.
[[nodiscard]] std::uint64_t Count(const BlocksBySize& blocks, std::uint64_t size,
                                  std::uint64_t most_added = 0);
// Returns what was found: one block of each way, and none of those that were freed; or an error.
[[nodiscard]] Expected<std::string> ExpectWays(const BlocksBySize& blocks,
                                               std::span<const self_test::Way> ways);

// Launches the case of that name, suspended. Nothing traces it yet.
[[nodiscard]] Expected<std::unique_ptr<SuspendedProcess>> LaunchCase(const SelfTestRequest& request,
                                                                     const std::string& name,
                                                                     Debugged debugged);
// Waits for a minute at most. Returns an error unless it ends with this code.
[[nodiscard]] Expected<void> AwaitEnd(const SuspendedProcess& process, unsigned expected_code);

class SelfTestChild {
 public:
  // Returns once the program has ended, with an error if it cannot be traced, if it does not end as
  // it should, or if `look`'s only call failed or never came.
  [[nodiscard]] static Expected<SelfTestChild> Run(const SelfTestRequest& request,
                                                   const SelfTestCase& test);

  const RegionReader& region() const { return region_->reader(); }
  // What the region took when the program had ended.
  [[nodiscard]] std::uint64_t HeldBytes() const { return region_->HeldBytes(); }
  // The live blocks of all windows at the program's end.
  [[nodiscard]] Expected<BlocksBySize> LiveBlocks() const;

 private:
  explicit SelfTestChild(std::unique_ptr<RegionFile> region) : region_(std::move(region)) {}

  std::unique_ptr<RegionFile> region_;
};

}  // namespace leakgate
