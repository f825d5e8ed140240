// The process that holds programs for a session of root (attach/linux/exec_hold.h), and the owner's
// side of it.
//
//   Fork     called by the owner, while it has one thread
//   Begin    the owner sends what is wanted; the holder starts to hold programs, and confirms it
//   notices  the holder reports each wanted program: that it has the agent, or why not
//   the end  the owner closes its socket, or ends itself: then the kernel kills the holder
//
// The holder is a process of its own, because all programs of the machine wait for it: it does
// nothing else, and whatever happens to it, the owner keeps what has been recorded.
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

// The processes that the holder has handled, in memory that it shares with the owner. The holder
// adds a process before it lets it continue, whereas a notice may have to wait for room.
class HandledProcesses {
 public:
  [[nodiscard]] static Expected<HandledProcesses> Make();

  // `image` is the file that the process executes: it may execute another one later.
  void Add(int pid, std::uint64_t start_time, const std::string& image) const;
  [[nodiscard]] bool Has(int pid, std::uint64_t start_time, const std::string& image) const;

  // The number of the orders which the holder follows now.
  void NoteOrders(std::uint64_t number) const;
  [[nodiscard]] std::uint64_t orders() const;

 private:
  // A process has a slot by its number; a later process overwrites one whose number has the same
  // last bits.
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

  // Returns once programs are held, or with the reason why they are not: then the holder has ended.
  [[nodiscard]] Expected<void> Begin(const HolderOrders& orders);
  // Changes what is wanted, and returns once the holder follows it. Any thread may call it, but
  // only one at a time.
  void Change(HolderOrders orders);

  // The descriptor is readable when there are notices, or when the holder has ended.
  int fd() const { return socket_.get(); }
  int pid() const { return pid_; }

  struct Notices {
    std::vector<ProcessStatus> programs;  // kStarting: it has the agent; kFailed, with the problem
    std::uint64_t unseen = 0;             // programs of any kind that nobody has looked at
    std::vector<unsigned> barred;  // users about whose programs no questions are asked for a while
    std::uint64_t untold = 0;      // how many more programs are not traced
    bool has_ended = false;        // the holder has ended: it was killed
  };
  [[nodiscard]] Notices Take() const;
  [[nodiscard]] bool HasHandled(int pid, const std::string& image) const;

  // Makes the holder let everything continue, and waits for its end.
  void End();

 private:
  ExecHolder(UniqueFd socket, HandledProcesses handled, pid_t pid)
      : socket_(std::move(socket)), handled_(std::move(handled)), pid_(pid) {}

  UniqueFd socket_;
  HandledProcesses handled_;
  pid_t pid_ = 0;
  std::uint64_t orders_ = 1;  // the number of the last orders
};

}  // namespace leakgate
