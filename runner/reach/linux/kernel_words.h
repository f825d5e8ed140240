// Finds the words that the kernel keeps for a process and gives back to it: pointers that may be
// nowhere else. It has them from epoll_ctl (the user data of what an epoll descriptor watches) and
// from timer_create (the value of a timer's signal).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace leakgate {

// An object of the kernel, and the words that it keeps.
struct KernelObject {
  std::string name;  // "epoll descriptor 5", "timer 0"
  std::vector<std::uint64_t> words;
  bool is_queue = false;  // whoever reads it takes them out

  friend bool operator==(const KernelObject&, const KernelObject&) = default;
};

// What cannot be read is left out. Never fails.
[[nodiscard]] std::vector<KernelObject> FindKernelWords(int pid);

// Returns the words in the text of /proc/PID/fdinfo/FD of an epoll descriptor. Pure.
[[nodiscard]] std::vector<std::uint64_t> ParseEpollWords(std::string_view fdinfo);

// Returns the timers in the text of /proc/PID/timers. Pure.
[[nodiscard]] std::vector<KernelObject> ParseTimers(std::string_view timers);

}  // namespace leakgate
