// What the system tells about terminals. Descriptors are the C library's: 0 to 2, or a stream's
// fileno.
#pragma once

#include <cstddef>
#include <string_view>

namespace leakgate {

struct TerminalSize {
  std::size_t rows = 0;
  std::size_t columns = 0;
};

// Returns zeros if `fd` is no terminal.
[[nodiscard]] TerminalSize SizeOfTerminal(int fd);
[[nodiscard]] bool IsTerminal(int fd);
// Returns whether `fd` is a terminal that obeys the control sequences of the VT100.
[[nodiscard]] bool IsCapableTerminal(int fd);
// Returns whether both are the same terminal.
[[nodiscard]] bool IsSameTerminal(int one, int other);
// Returns whether this process is in the foreground of the terminal `fd`.
[[nodiscard]] bool IsInForeground(int fd);
// Writes at once, past all buffers. A failed write is ignored, since nobody reads a terminal whose
// other end is gone.
void WriteUnbuffered(int fd, std::string_view text);

}  // namespace leakgate
