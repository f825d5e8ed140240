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
void AnswerNothing(Mailbox& mailbox);

// Takes the snapshot that the program's own code asks for (leakgate::TakeSnapshot). The snapshot
// is taken into the runner's memory and handed in parts to the agent, which writes the file: the
// runner opens no path that a process under test names.
//
// It serves one region, on the thread that answers the region's questions. The asking thread
// waits meanwhile; other threads of the process may run.
class RequestedSnapshot {
 public:
  // `region` must outlive this object.
  explicit RequestedSnapshot(const RegionReader& region) : region_(region) {}

  // Answers Question::kTakeSnapshot and kReadSnapshot; returns false for any other question.
  // REQUIRES: AnswerNothing was called for this question.
  [[nodiscard]] bool Answer(Mailbox& mailbox);

 private:
  void Take(Mailbox& mailbox);
  // Leaves the mailbox as it is if the requested part does not exist.
  void Read(Mailbox& mailbox);

  const RegionReader& region_;
  std::string
      text_;  // the snapshot file's content; empty before a snapshot and after its last part
};

}  // namespace leakgate
