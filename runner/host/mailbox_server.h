// Answers the questions that one traced image asks through its region's mailbox.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

#include "common/region_layout.h"
#include "runner/region/region_reader.h"

namespace leakgate {

// Serves one mailbox on a thread of its own, from construction to Stop.
class MailboxServer {
 public:
  // Reads the question in the mailbox and writes the answer. Called on the server's thread.
  using Answer = std::function<void(Mailbox& mailbox)>;

  // `mailbox` must outlive this object.
  MailboxServer(Mailbox& mailbox, Answer answer);
  ~MailboxServer() { Stop(); }
  MailboxServer(const MailboxServer&) = delete;
  MailboxServer& operator=(const MailboxServer&) = delete;

  // After it returns, no question is answered any more. A second call does nothing.
  void Stop();

 private:
  void Serve();

  Mailbox& mailbox_;
  Answer answer_;
  std::atomic<bool> is_stopping_{false};
  std::atomic<bool> has_stopped_{false};
  std::thread thread_;
};

// Writes the answer "within budget", with which the process simply continues.
void AnswerWithinBudget(Mailbox& mailbox);

// Answers questions that the owner of a mailbox does not know. Returns false for a question that it
// does not know, either. Called on the server's thread. REQUIRES: AnswerWithinBudget was called for
// this question.
using AnswerMore = std::function<bool(Mailbox& mailbox)>;
// Makes an AnswerMore for a region, which must outlive it.
using MakeAnswerer = std::function<AnswerMore(const RegionReader& region)>;

// Returns what `make` makes. If `make` is null, returns an AnswerMore that refuses snapshots, with
// the reason.
[[nodiscard]] AnswerMore AnswererFor(const MakeAnswerer& make, const RegionReader& region);

}  // namespace leakgate
