#include "runner/host/mailbox_server.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <ctime>

namespace leakgate {
namespace {

constexpr std::chrono::microseconds kMostPause{5000};
// A question wakes the server, so hundreds of waiting servers cost nothing.
constexpr std::chrono::seconds kLongWait{5};

// Returns when `word` differs from `seen`, on a wake, or after `patience`.
void WaitWhile(const std::atomic<std::uint32_t>& word, std::uint32_t seen,
               std::chrono::milliseconds patience) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(patience);
  const timespec timeout{seconds.count(), std::chrono::nanoseconds(patience - seconds).count()};
  ::syscall(SYS_futex, &word, FUTEX_WAIT, seen, &timeout, nullptr, 0);
}

void WakeAll(std::atomic<std::uint32_t>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace

MailboxServer::MailboxServer(Mailbox& mailbox, Answer answer)
    : mailbox_(mailbox), answer_(std::move(answer)), thread_([this] { Serve(); }) {}

void MailboxServer::Stop() {
  if (!thread_.joinable()) return;
  is_stopping_.store(true, std::memory_order_release);
  // The server may have read the flag before the store and begin to wait after the first wake.
  for (auto pause = std::chrono::microseconds(50);; pause = std::min(2 * pause, kMostPause)) {
    WakeAll(mailbox_.request);
    if (has_stopped_.load(std::memory_order_acquire)) break;
    std::this_thread::sleep_for(pause);
  }
  thread_.join();
}

void MailboxServer::Serve() {
  const std::atomic<std::uint32_t>& request = mailbox_.request;
  while (!is_stopping_.load(std::memory_order_acquire)) {
    // Acquire pairs with the agent's release once it has written the question.
    const std::uint32_t asked = request.load(std::memory_order_acquire);
    // Compares the shared words themselves: a wild write to both is then not taken for a question.
    if (asked == mailbox_.reply.load(std::memory_order_relaxed)) {
      WaitWhile(request, asked, kLongWait);
      continue;
    }
    answer_(mailbox_);
    // Release pairs with the agent's acquire.
    mailbox_.reply.store(asked, std::memory_order_release);
    WakeAll(mailbox_.reply);
  }
  has_stopped_.store(true, std::memory_order_release);
}

}  // namespace leakgate
