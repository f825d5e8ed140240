// The registers of a thread as the runner needs them: what ptrace reports in several parts, and
// what the code around the program counter says about the thread's system call.
//
// Before the kernel lets ptrace stop a thread in a system call, it forgets the call's number. It
// has put the thread back in front of the call's instruction if the call is to be made again, with
// the registers that the call had. If the call has failed, the thread is behind the instruction.
// In both cases x8 still has the number.
#pragma once

#include <cstdint>

namespace leakgate {

struct RegisterSet {
  static constexpr int kFrame = 29;
  static constexpr int kLink = 30;
  static constexpr int kCallNumber = 8;

  std::uint64_t x[31];
  std::uint64_t sp;
  std::uint64_t pc;
  std::uint64_t pstate;

  std::uint64_t thread_pointer;
  std::uint64_t first_argument;  // what x0 was at the call, if a stop has ended the call
  std::int32_t system_call;      // the call's number, where the kernel stops a thread for the call
  bool is_before_call;           // the next instruction makes a system call
  bool is_behind_call;           // the last one made a system call
  bool goes_on_waiting;          // the kernel continues the call where it was (held_call.h)
  bool fails_when_interrupted;   // the call fails whenever it is interrupted, and we make it again
};

inline constexpr std::uint64_t kRedZoneBytes = 0;

}  // namespace leakgate
