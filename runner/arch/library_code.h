// What the machine code of a process's C library looks like, where it is read in order to find what
// has no symbol. The code is of another process, and is not trusted. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace leakgate {

// What a signal's handler returns to, which calls rt_sigreturn. Debuggers and unwinders know these
// bytes, so they do not change.
[[nodiscard]] std::span<const std::uint8_t> RestorerCode();

// The code of __errno_location, which lies at `address`, reads from memory how far a thread's errno
// is from its thread pointer. Returns the address of what it reads; nothing if the code is not as
// it has been so far. REQUIRES: `code` has kErrnoCodeBytes.
inline constexpr std::size_t kErrnoCodeBytes = 24;
[[nodiscard]] std::optional<std::uint64_t> FindErrnoOffset(std::span<const std::uint8_t> code,
                                                           std::uint64_t address);

// What the dynamic linker's file name begins with.
[[nodiscard]] std::string_view DynamicLinkerName();

// A stack of return addresses that the processor compares with, so that no call can be made from
// outside.
struct ShadowStack {
  std::string_view status_field;  // of /proc/PID/status
  std::string_view enabled_word;  // in that field
  std::string_view tunable_off;   // the glibc tunable by which a program starts without it
};
[[nodiscard]] ShadowStack KnownShadowStack();

}  // namespace leakgate
