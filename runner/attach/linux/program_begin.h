// Gives the agent to a program that has not begun. A signal has stopped the program at its first
// instruction, which belongs to the dynamic linker, so no function can be called in it yet. But its
// environment can still be changed so that the dynamic linker preloads the agent:
//
//   PTRACE_TRACEME, exec, PTRACE_DETACH with SIGSTOP    by the process that launches the program
//   the variables are put on the program's stack        here; the program stays stopped
//   SIGCONT                                             by the process that launches the program;
//                                                       it is traced from its first instruction on
//
// Meanwhile ptrace stops the program's first thread, which its parent does not see. If the runner
// is killed half way, the program begins as if nothing had been done.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runner/attach/attach.h"
#include "runner/base/expected.h"

namespace leakgate {

// Returns whether the process is such a program.
[[nodiscard]] bool IsAtFirstInstruction(int pid);

// REQUIRES: RequireAttachable and IsAtFirstInstruction hold. The calling thread ends afterwards,
// and holds WaitLock.
[[nodiscard]] Expected<Attachment> EnableAtBegin(const EnableRequest& request);

// Does the same to a program whose exec has just stopped (PTRACE_EVENT_EXEC), after it has found
// out whether the program can be traced. REQUIRES: the calling thread traces it.
[[nodiscard]] Expected<void> EnableAtExec(const EnableRequest& request);

// The stack as the kernel leaves it for the first instruction. The System V ABI says so for all
// 64-bit processors:
//
//   sp    argc, argv[0] .. argv[argc - 1], 0, environment .. 0, auxiliary vector .. AT_NULL
//   ...   and above, the strings and random bytes that these point to
struct InitialStack {
  std::uint64_t address = 0;               // the stack pointer
  std::vector<std::uint64_t> arguments;    // addresses of strings
  std::vector<std::uint64_t> environment;  // likewise
  std::vector<std::uint64_t> auxiliary;    // type, value, ... AT_NULL and its value
};

// Parses the words from `address` on. Returns nothing if they are not such a stack. Pure.
[[nodiscard]] std::optional<InitialStack> ParseInitialStack(std::uint64_t address,
                                                            std::span<const std::uint64_t> words);

// A variable of the environment.
struct StackVariable {
  std::uint64_t address = 0;  // where it already is; 0 if `text` must be written
  std::string text;
};

struct StackBytes {
  std::uint64_t address = 0;  // the new stack pointer, which is a multiple of 16
  std::vector<std::uint8_t> bytes;
};

// Builds the same stack with another environment. It lies below `stack`, and points to the same
// strings, apart from new ones. So nothing changes for the program until its stack pointer is set.
// Pure.
[[nodiscard]] StackBytes WithEnvironment(const InitialStack& stack,
                                         std::span<const StackVariable> environment);

}  // namespace leakgate
