#include "runner/base/terminal.h"

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

namespace leakgate {

TerminalSize SizeOfTerminal(int fd) {
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) != 0) return {};
  return {size.ws_row, size.ws_col};
}

bool IsTerminal(int fd) { return ::isatty(fd) != 0; }

bool IsCapableTerminal(int fd) {
  const char* const type = std::getenv("TERM");
  const std::string_view name = type == nullptr ? "" : type;
  return IsTerminal(fd) && !name.empty() && name != "dumb";
}

bool IsSameTerminal(int one, int other) {
  struct stat first {};
  struct stat second {};
  return IsTerminal(one) && IsTerminal(other) && ::fstat(one, &first) == 0 &&
         ::fstat(other, &second) == 0 && first.st_rdev == second.st_rdev;
}

bool IsInForeground(int fd) { return ::tcgetpgrp(fd) == ::getpgrp(); }

void WriteUnbuffered(int fd, std::string_view text) {
  (void)!::write(fd, text.data(), text.size());
}

}  // namespace leakgate
