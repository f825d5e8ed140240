#include "runner/base/terminal.h"

#include <io.h>

#include <cstdlib>

#include "runner/base/nt/win32.h"

namespace leakgate {
namespace {

HANDLE ConsoleOf(int fd) { return reinterpret_cast<HANDLE>(_get_osfhandle(fd)); }

}  // namespace

TerminalSize SizeOfTerminal(int fd) {
  CONSOLE_SCREEN_BUFFER_INFO facts{};
  if (!GetConsoleScreenBufferInfo(ConsoleOf(fd), &facts)) return {};
  const SMALL_RECT& window = facts.srWindow;
  return {static_cast<std::size_t>(window.Bottom - window.Top + 1),
          static_cast<std::size_t>(window.Right - window.Left + 1)};
}

bool IsTerminal(int fd) {
  DWORD mode = 0;
  return GetConsoleMode(ConsoleOf(fd), &mode) != 0;
}

bool IsCapableTerminal(int fd) {
  DWORD mode = 0;
  return GetConsoleMode(ConsoleOf(fd), &mode) != 0 &&
         SetConsoleMode(ConsoleOf(fd), mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING) != 0;
}

// A process has one console at most.
bool IsSameTerminal(int one, int other) { return IsTerminal(one) && IsTerminal(other); }

bool IsInForeground(int) { return true; }

void WriteUnbuffered(int fd, std::string_view text) {
  DWORD written = 0;
  WriteFile(ConsoleOf(fd), text.data(), static_cast<DWORD>(text.size()), &written, nullptr);
}

}  // namespace leakgate
