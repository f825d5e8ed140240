// What the kernel lays on a program's stack before its first instruction (System V
// ABI: alike on all 64-bit processors), taken apart and built anew with another environment. Pure.
//
//   sp    argc, argv[0] .. argv[argc - 1], 0, environment .. 0, auxiliary vector .. AT_NULL
//   ...   and above, the strings and random bytes that they point at
//
// What is built lies below the old one, and points at the same strings but for those that are new.
// As long as the stack pointer has not been changed, nothing has changed for the program.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace leakgate {

struct InitialStack {
  std::uint64_t address = 0;               // the stack pointer
  std::vector<std::uint64_t> arguments;    // addresses of strings
  std::vector<std::uint64_t> environment;  // likewise
  std::vector<std::uint64_t> auxiliary;    // type, value, ... AT_NULL and its value
};

// `words` are those from `address` on. Returns nothing if they are no such stack.
[[nodiscard]] std::optional<InitialStack> ParseInitialStack(std::uint64_t address,
                                                            std::span<const std::uint64_t> words);

// The auxiliary vector of a process, as the kernel keeps it; empty if it cannot be read.
[[nodiscard]] std::vector<std::uint64_t> ReadAuxiliary(int pid);

// Returns the value of `type` in an auxiliary vector; nothing if there is no such entry.
[[nodiscard]] std::optional<std::uint64_t> AuxiliaryValue(std::span<const std::uint64_t> auxiliary,
                                                          std::uint64_t type);

// A variable of the environment: one that is there, or a new one.
struct StackVariable {
  std::uint64_t address = 0;  // 0: `text` is to be laid down
  std::string text;
};

struct StackBytes {
  std::uint64_t address = 0;  // the stack pointer: a multiple of 16
  std::vector<std::uint8_t> bytes;
};

[[nodiscard]] StackBytes WithEnvironment(const InitialStack& stack,
                                         std::span<const StackVariable> environment);

}  // namespace leakgate
