// Answers what one traced image asks through its region's mailbox. A thread of
// its own serves from construction to Stop.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>

#include "common/region_layout.h"

namespace leakgate {

class MailboxServer {
 public:
  // Called on the server's thread: reads the question and writes the answer.
  using Answer = std::function<void(Mailbox& mailbox)>;

  // `mailbox` outlives this.
  MailboxServer(Mailbox& mailbox, Answer answer);
  ~MailboxServer() { Stop(); }
  MailboxServer(const MailboxServer&) = delete;
  MailboxServer& operator=(const MailboxServer&) = delete;

  // On return no question is answered any more. A second call does nothing.
  void Stop();

 private:
  void Serve();

  Mailbox& mailbox_;
  Answer answer_;
  std::atomic<bool> is_stopping_{false};
  std::atomic<bool> has_stopped_{false};
  std::thread thread_;
};

// Writes the answer that lets the process go on: within budget.
void AnswerNothing(Mailbox& mailbox);

}  // namespace leakgate
