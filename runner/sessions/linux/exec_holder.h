// The process that holds programs for a session of root's (attach/linux/exec_hold.h), and the
// owner's end of it.
//
//   Fork     by the owner, while it has one thread
//   Begin    the owner says what is wanted; the holder watches the file systems, and says so
//   notices  the holder tells of each wanted program: it has the agent, or why it has not
//   the end  the owner closes its end, or ends itself: then the kernel kills the holder
//
// It is a process of its own, for all programs of the machine wait for it: it does nothing else,
// and whatever happens to it, the owner keeps what has been recorded.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "runner/base/descriptors.h"
#include "runner/base/expected.h"
#include "runner/host/process_status.h"
#include "runner/sessions/session_messages.h"

namespace leakgate {

struct HolderOrders {
  std::string control;  // the name of the session's control socket
  std::filesystem::path agent;
  SessionScope scope;        // images and users
  std::uint64_t number = 1;  // each is higher than the one before
};

// The processes that the holder has dealt with, in memory that it shares with the owner. The holder
// adds one before it lets it go, whereas a notice may have to wait for room.
class HandledProcesses {
 public:
  [[nodiscard]] static Expected<HandledProcesses> Make();

  // `image` is the file that the process executes: it may execute another one later.
  void Add(int pid, std::uint64_t start_time, const std::string& image) const;
  [[nodiscard]] bool Has(int pid, std::uint64_t start_time, const std::string& image) const;

  // The number of the orders that the holder works by.
  void NoteOrders(std::uint64_t number) const;
  [[nodiscard]] std::uint64_t orders() const;

 private:
  // One for each number; a later process overwrites one whose number ends alike.
  static constexpr std::size_t kSlots = std::size_t{1} << 16;
  static std::uint64_t Mark(int pid, std::uint64_t start_time, const std::string& image) {
    return (static_cast<std::uint64_t>(pid) << 40U) ^ start_time ^ std::hash<std::string>()(image);
  }
  static constexpr std::size_t kOrdersSlot = kSlots;
  std::atomic<std::uint64_t>& Slot(std::size_t at) const;
  std::atomic<std::uint64_t>& SlotOf(int pid) const {
    return Slot(static_cast<std::size_t>(pid) % kSlots);
  }

  Mapping memory_;
};

class ExecHolder {
 public:
  // REQUIRES: the calling process has one thread, which lives as long as the session.
  [[nodiscard]] static Expected<ExecHolder> Fork();
  ~ExecHolder() { End(); }
  ExecHolder(ExecHolder&& other) noexcept
      : socket_(std::move(other.socket_)),
        handled_(std::move(other.handled_)),
        pid_(std::exchange(other.pid_, 0)) {}
  ExecHolder& operator=(ExecHolder&&) = delete;
  ExecHolder(const ExecHolder&) = delete;
  ExecHolder& operator=(const ExecHolder&) = delete;

  // Returns when programs are held, or why they are not: then the holder has ended.
  [[nodiscard]] Expected<void> Begin(const HolderOrders& orders);
  // Changes what is wanted, and returns once it is so. Any thread may call it, one at a time.
  void Change(HolderOrders orders);

  // Readable when there are notices, or the holder has ended.
  int fd() const { return socket_.get(); }
  int pid() const { return pid_; }

  struct Notices {
    std::vector<ProcessStatus> programs;  // kStarting: it has the agent; kFailed, with the problem
    std::vector<unsigned> barred;         // users whose programs are not asked about for a while
    std::uint64_t untold = 0;             // how many more are not traced
    bool has_ended = false;               // the holder: it was killed
  };
  [[nodiscard]] Notices Take() const;
  [[nodiscard]] bool HasHandled(int pid, const std::string& image) const;

  // Has the holder let everything go, and waits for its end.
  void End();

 private:
  ExecHolder(UniqueFd socket, HandledProcesses handled, pid_t pid)
      : socket_(std::move(socket)), handled_(std::move(handled)), pid_(pid) {}

  UniqueFd socket_;
  HandledProcesses handled_;
  pid_t pid_ = 0;
  std::uint64_t orders_ = 1;  // the number of the last ones
};

}  // namespace leakgate
