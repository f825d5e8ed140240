#include "plugin/agent/mailbox.h"

#include <linux/futex.h>

#include <cerrno>
#include <climits>
#include <ctime>

#include "plugin/agent/linux/syscall.h"
#include "plugin/agent/region.h"

namespace leakgate::agent {
namespace {

bool RunnerIsAlive() {
  constexpr long kNoSignal = 0;
  return RawSyscall(SYS_kill, g_region.header().runner_pid, kNoSignal) != -ESRCH;
}

void WakeRunner(std::atomic<std::uint32_t>& word) {
  RawSyscall(SYS_futex, Word(&word), FUTEX_WAKE, INT_MAX);
}

// False if the runner died instead of answering.
bool WaitForReply(Mailbox& mailbox, std::uint32_t request) {
  for (;;) {
    // Acquire pairs with the runner's release after it has written the answer.
    const std::uint32_t reply = mailbox.reply.load(std::memory_order_acquire);
    if (reply == request) return true;
    const timespec patience{1, 0};
    const long result = RawSyscall(SYS_futex, Word(&mailbox.reply), FUTEX_WAIT,
                                   static_cast<long>(reply), Word(&patience));
    if (result == -ETIMEDOUT && !RunnerIsAlive()) return false;
  }
}

std::uint32_t AtMost(std::uint32_t length, std::uint32_t limit) {
  return length < limit ? length : limit;
}

}  // namespace

RunnerVerdict AskRunner(const RunnerQuestion& asked) {
  Mailbox& mailbox = g_region.mailbox();
  mailbox.question = static_cast<std::uint32_t>(asked.question);
  mailbox.window = asked.window;
  mailbox.iteration = asked.iteration;
  mailbox.tid = CurrentTid();
  const std::uint32_t request = mailbox.request.load(std::memory_order_relaxed) + 1;
  // Release pairs with the acquire of the runner's judge.
  mailbox.request.store(request, std::memory_order_release);
  WakeRunner(mailbox.request);
  if (!WaitForReply(mailbox, request)) return {};

  return {.is_over_budget = mailbox.over_budget != 0,
          .line = mailbox.line,
          .file = {mailbox.file, AtMost(mailbox.file_length, Mailbox::kFileCapacity)},
          .text = {mailbox.text, AtMost(mailbox.text_length, Mailbox::kTextCapacity)}};
}

}  // namespace leakgate::agent
