#include "runner/attach/attach.h"

#include <future>
#include <shared_mutex>

#include "runner/attach/linux/enabling.h"
#include "runner/attach/linux/program_begin.h"
#include "runner/attach/linux/refusals.h"
#include "runner/process/wait_lock.h"

namespace leakgate {
namespace {

// On a thread of its own: the kernel lets go of all that it holds when it ends.
template <typename Work>
auto OnOwnThread(const Work& work) {
  const auto on_thread = [&work] {
    const std::shared_lock waiting(WaitLock());
    return work();
  };
  return std::async(std::launch::async, on_thread).get();
}

}  // namespace

Expected<Attachment> EnableRunning(const EnableRequest& request) {
  const Expected<void> attachable = RequireAttachable(request.pid);
  if (!attachable) return Unexpected(attachable.error());
  return OnOwnThread([&] {
    return IsAtFirstInstruction(request.pid) ? EnableAtBegin(request) : EnableOn(request);
  });
}

Expected<void> DisableRunning(int pid) {
  const Expected<void> attachable = RequireAttachable(pid);
  if (!attachable) return attachable;
  return OnOwnThread([&] { return DisableOn(pid); });
}

}  // namespace leakgate
