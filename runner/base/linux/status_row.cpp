#include "runner/base/status_row.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "runner/base/signal_end.h"

namespace leakgate {
namespace {

constexpr int kFewestRows = 4;
constexpr int kFewestColumns = 20;

// Control sequences of the VT100, which all terminals since understand.
constexpr char kSave[] =
    "\x1b"
    "7";  // saves the cursor and its colours
constexpr char kRestore[] =
    "\x1b"
    "8";
constexpr char kNextLine[] =
    "\x1b"
    "D";  // moves down in the same column, and scrolls in the last row
constexpr char kUp[] = "\x1b[A";
constexpr char kClearRest[] = "\x1b[K";
constexpr char kClearBelow[] = "\x1b[J";
constexpr char kPlain[] = "\x1b[m";
constexpr char kScrollAll[] = "\x1b[r";

std::string MoveToRow(int row) { return fmt::format("\x1b[{};1H", row); }

winsize SizeOf(int fd) {
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) != 0) return {};
  return size;
}

}  // namespace

std::size_t StatusRow::Columns() const {
  const winsize size = SizeOf(fd_);
  const bool is_large = size.ws_row >= kFewestRows && size.ws_col >= kFewestColumns;
  if (!is_large || ::tcgetpgrp(fd_) != ::getpgrp()) return 0;
  return size.ws_col - 1U;  // some terminals wrap in the last column
}

// Moving one line down makes room below the cursor, and moving up again leads back to its line
// and column, whatever others have written there. After that the last row is free.
void StatusRow::ReserveRow(int rows) {
  const std::string undo =
      rows_ == 0 ? "" : fmt::format("{}{}{}{}", kSave, kScrollAll, kRestore, kClearBelow);
  Write(fmt::format("{}{}{}{}\x1b[1;{}r{}", undo, kNextLine, kUp, kSave, rows - 1, kRestore));
  rows_ = rows;
  shown_.clear();
  RestoreTerminalAtSignal(fd_, SequenceToReleaseRow());
}

void StatusRow::Show(const std::string& text) {
  if (use_ == TerminalUse::kAlone) {
    if (text != shown_) Write('\r' + text + kClearRest);
    shown_ = text;
    return;
  }
  const int rows = SizeOf(fd_).ws_row;
  if (rows < kFewestRows) return;
  if (rows != rows_) ReserveRow(rows);
  if (text == shown_) return;
  Write(fmt::format("{}{}{}{}{}{}", kSave, kPlain, MoveToRow(rows_), text, kClearRest, kRestore));
  shown_ = text;
}

void StatusRow::Hide() {
  if (use_ == TerminalUse::kAlone && !shown_.empty()) Write(fmt::format("\r{}", kClearRest));
  if (rows_ != 0) {
    Write(SequenceToReleaseRow());
    RestoreTerminalAtSignal(fd_, "");
  }
  rows_ = 0;
  shown_.clear();
}

std::string StatusRow::SequenceToReleaseRow() const {
  return fmt::format("{}{}{}{}{}{}", kSave, kScrollAll, kPlain, MoveToRow(rows_), kClearRest,
                     kRestore);
}

// A failed write is ignored, since nobody reads a terminal whose other end is gone.
void StatusRow::Write(const std::string& text) const {
  (void)!::write(fd_, text.data(), text.size());
}

}  // namespace leakgate
