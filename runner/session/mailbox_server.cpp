#include "runner/session/mailbox_server.h"

#include "runner/session/linux/futex.h"

namespace leakgate {

MailboxServer::MailboxServer(Mailbox& mailbox, Answer answer)
    : mailbox_(mailbox), answer_(std::move(answer)), thread_([this] { Serve(); }) {}

void MailboxServer::Stop() {
  if (!thread_.joinable()) return;
  is_stopping_.store(true, std::memory_order_release);
  WakeAll(mailbox_.request);
  thread_.join();
}

void MailboxServer::Serve() {
  const std::atomic<std::uint32_t>& request = mailbox_.request;
  std::uint32_t answered = 0;
  while (!is_stopping_.load(std::memory_order_acquire)) {
    // Acquire pairs with the agent's release once it has written the question.
    const std::uint32_t asked = request.load(std::memory_order_acquire);
    if (asked == answered) {
      WaitWhile(request, answered, std::chrono::milliseconds(100));
      continue;
    }
    answer_(mailbox_);
    answered = asked;
    // Release pairs with the agent's acquire.
    mailbox_.reply.store(asked, std::memory_order_release);
    WakeAll(mailbox_.reply);
  }
}

void AnswerNothing(Mailbox& mailbox) {
  mailbox.over_budget = 0;
  mailbox.text_length = 0;
  mailbox.file_length = 0;
  mailbox.line = 0;
}

}  // namespace leakgate
