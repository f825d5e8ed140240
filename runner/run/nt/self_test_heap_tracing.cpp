#include "runner/run/nt/self_test_heap_tracing.h"

#include <fmt/format.h>

#include "common/nt_self_test.h"
#include "runner/etw/nt/heap_session.h"
#include "runner/heap_tracing/nt/registry_flags.h"
#include "runner/run/nt/self_test_child.h"

namespace leakgate {
namespace {

Check CheckToolkit() {
  constexpr char kSubject[] = "toolkit";
  const std::filesystem::path library = FindControlLibrary();
  if (library.empty()) {
    return {CheckResult::kOk, kSubject,
            "the Windows Performance Toolkit is not installed, so StartTrace starts sessions"};
  }
  const Expected<TraceCalls> calls = LoadTraceCalls(library);
  if (!calls) return {CheckResult::kWarning, kSubject, calls.error().message};
  return {CheckResult::kOk, kSubject,
          fmt::format("StartHeapTrace and UpdateHeapTrace are in {}", Utf8Of(library.native()))};
}

// The blocks of a program that Windows itself tells of.
Expected<BlocksBySize> BlocksToldByWindows(const SelfTestRequest& request) {
  constexpr DWORD kPatienceMs = 2000;
  LEAKGATE_TRY_ASSIGN(const TraceCalls calls, SystemTraceCalls());
  LEAKGATE_TRY_ASSIGN(const std::unique_ptr<SuspendedProcess> process,
                      LaunchCase(request, self_test::kFunctionsCase, Debugged::kNo));
  LEAKGATE_TRY_ASSIGN(
      const auto session,
      HeapSession::Start(calls, HeapTrace(static_cast<std::uint32_t>(process->pid()))));
  LEAKGATE_TRY(session->Verify(kPatienceMs));
  LEAKGATE_TRY(process->Resume());
  LEAKGATE_TRY(AwaitEnd(*process, 0));
  LEAKGATE_TRY_ASSIGN(const HeapTrace trace, session->Stop());
  const std::string losses = DescribeLosses(trace.losses());
  if (!losses.empty()) return DoesNotHold(losses);
  BlocksBySize blocks;
  for (const TracedBlock& block : trace.LiveBlocks()) ++blocks[block.size_bytes];
  return blocks;
}

Check CheckSession(const SelfTestRequest& request) {
  constexpr char kSubject[] = "heap tracing";
  const Expected<BlocksBySize> blocks = BlocksToldByWindows(request);
  const Expected<std::string> found =
      blocks ? ExpectWays(*blocks, self_test::kFunctions) : Unexpected(blocks.error());
  if (found) return {CheckResult::kOk, kSubject, *found};
  return {CheckResult::kWarning, kSubject,
          fmt::format("leakgate run --engine etw does not work here: {}", found.error().message)};
}

Check CheckImageFlags() {
  constexpr char kSubject[] = "image flags";
  const Expected<std::vector<FoundFlag>> flags = FindFlags();
  if (!flags) return {CheckResult::kWarning, kSubject, flags.error().message};
  const std::string can_read =
      fmt::format("TracingFlags of the 64-bit registry can be read ({} set)", flags->size());
  const Expected<void> may_change = MayChangeFlags();
  if (may_change) return {CheckResult::kOk, kSubject, can_read + " and changed"};
  return {CheckResult::kWarning, kSubject,
          fmt::format("{}, but leakgate session start --image does not work here: {}", can_read,
                      may_change.error().message)};
}

}  // namespace

std::vector<Check> ChecksOfHeapTracing(const SelfTestRequest& request) {
  return {CheckToolkit(), CheckSession(request), CheckImageFlags()};
}

}  // namespace leakgate
