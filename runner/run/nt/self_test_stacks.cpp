#include "runner/run/nt/self_test_stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "common/nt_self_test.h"
#include "runner/attribution/code_owner.h"
#include "runner/run/nt/self_test_child.h"
#include "runner/symbols/symbolizer.h"

namespace leakgate {
namespace {

using self_test::SeenLine;
using self_test::SeenStack;

template <typename T>
Expected<T> Read(HANDLE process, std::uint64_t address) {
  T value{};
  SIZE_T read = 0;
  if (!ReadProcessMemory(process, reinterpret_cast<const void*>(address), &value, sizeof(value),
                         &read) ||
      read != sizeof(value)) {
    return DoesNotHold(fmt::format("memory of the program cannot be read: {}", WindowsErrorText()));
  }
  return value;
}

std::string Addresses(std::span<const std::uint64_t> pcs) {
  std::string text;
  for (const std::uint64_t pc : pcs) text += fmt::format(" {:#x}", pc);
  return text;
}

// Whether the agent's stack has all callers that the system has found. Its innermost frames are in
// functions that the system was not asked in, and the first of the system's is at another call.
bool AreSame(const std::vector<std::uint64_t>& recorded, std::span<const std::uint64_t> found) {
  if (found.size() < 2) return false;
  const std::span<const std::uint64_t> callers = found.subspan(1);
  return std::search(recorded.begin(), recorded.end(), callers.begin(), callers.end()) !=
         recorded.end();
}

Expected<void> CompareStack(const AtVerdict& moment, const LiveBlock& block) {
  LEAKGATE_TRY_ASSIGN(const SeenStack seen, Read<SeenStack>(moment.process, block.address));
  std::vector<std::uint64_t> recorded;
  for (const RawStack::Frame& frame : moment.region.Stack(block.stack).frames) {
    recorded.push_back(frame.pc);
  }
  const std::uint64_t* const last = seen.pcs + std::min(seen.count, self_test::kSeenMost);
  const std::span<const std::uint64_t> found(seen.pcs,
                                             std::find(seen.pcs, last, 0));  // Wine goes on
  if (AreSame(recorded, found)) return {};
  return DoesNotHold(
      fmt::format("the agent finds{}, the system{}", Addresses(recorded), Addresses(found)));
}

std::string BaseName(const std::string& path) { return path.substr(path.find_last_of("/\\") + 1); }

// The line of which the program says that it is the inlined function's.
Expected<std::string> CompareLine(const AtVerdict& moment, const LiveBlock& block) {
  LEAKGATE_TRY_ASSIGN(const SeenLine seen, Read<SeenLine>(moment.process, block.address));
  Symbolizer symbolizer(IsRuntimeModule);
  std::string other;
  for (const RawStack::Frame& frame : moment.region.Stack(block.stack).frames) {
    for (const Frame& named :
         symbolizer.Symbolize(moment.region.ModuleOf(frame.module), frame.pc)) {
      other += fmt::format(" {} {}:{}{}", named.function, named.file, named.line,
                           named.inlined ? " inlined," : ",");
      if (named.inlined && named.function.find(self_test::kInlinedFunction) != std::string::npos &&
          named.line == static_cast<int>(seen.line)) {
        return fmt::format("{}:{}, in an inlined function", BaseName(named.file), named.line);
      }
    }
  }
  return DoesNotHold(
      fmt::format("{} of line {} is not among{} its .pdb may be missing; it must be beside it",
                  self_test::kInlinedFunction, seen.line, other));
}

}  // namespace

Expected<std::string> TestStacks(const SelfTestRequest& request) {
  std::uint64_t compared = 0;
  const auto look = [&compared](const AtVerdict& moment) -> Expected<void> {
    LEAKGATE_TRY_ASSIGN(const std::vector<LiveBlock> blocks,
                        moment.region.LiveBlocks(moment.window));
    for (const LiveBlock& block : blocks) {
      if (block.size_bytes != sizeof(SeenStack)) continue;
      LEAKGATE_TRY(CompareStack(moment, block));
      ++compared;
    }
    return {};
  };
  LEAKGATE_TRY_ASSIGN(const SelfTestChild child,
                      SelfTestChild::Run(request, {.name = self_test::kStacksCase, .look = look}));
  constexpr std::uint64_t kFewest = 4'000;
  if (compared < kFewest) return DoesNotHold(fmt::format("only {} were seen", compared));
  return fmt::format("{} are as the system's unwinder finds them", compared);
}

Expected<std::string> TestLines(const SelfTestRequest& request) {
  std::string text;
  const auto look = [&text](const AtVerdict& moment) -> Expected<void> {
    LEAKGATE_TRY_ASSIGN(const std::vector<LiveBlock> blocks,
                        moment.region.LiveBlocks(moment.window));
    for (const LiveBlock& block : blocks) {
      if (block.size_bytes != sizeof(SeenLine)) continue;
      LEAKGATE_TRY_ASSIGN(text, CompareLine(moment, block));
      return {};
    }
    return DoesNotHold("the block of an inlined function is not seen");
  };
  LEAKGATE_TRY_ASSIGN(const SelfTestChild child,
                      SelfTestChild::Run(request, {.name = self_test::kStacksCase, .look = look}));
  return text;
}

}  // namespace leakgate
