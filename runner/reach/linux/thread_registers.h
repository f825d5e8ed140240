// The registers of a stopped thread, as roots.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace leakgate {

struct FrozenThread {
  int tid = 0;
  std::string name;
  std::uint64_t stack_pointer = 0;
  std::uint64_t program_counter = 0;
  std::uint64_t thread_pointer = 0;
  std::vector<std::uint64_t> registers;  // all words: general and vector registers
};

// Everything of `tid` but its name; nothing if it has died. REQUIRES: it is
// stopped, traced by this thread.
[[nodiscard]] std::optional<FrozenThread> ReadRegisters(int tid);

// A system call that our stop has cut short is begun again, unless a signal's
// handler comes first. Most are by themselves; those that a stop ends with EINTR
// (epoll_wait is one) would show the program that it was stopped.
void RestartInterruptedCall(int tid);

}  // namespace leakgate
