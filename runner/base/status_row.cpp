#include "runner/base/status_row.h"

#include <fmt/format.h>

#include "runner/base/signal_end.h"
#include "runner/base/terminal.h"

namespace leakgate {
namespace {

constexpr std::size_t kFewestRows = 4;
constexpr std::size_t kFewestColumns = 20;

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

std::string MoveToRow(std::size_t row) { return fmt::format("\x1b[{};1H", row); }

}  // namespace

std::size_t StatusRow::Columns() const {
  const TerminalSize size = SizeOfTerminal(fd_);
  const bool is_large = size.rows >= kFewestRows && size.columns >= kFewestColumns;
  if (!is_large || !IsInForeground(fd_)) return 0;
  return size.columns - 1;  // some terminals wrap in the last column
}

// Moving one line down makes room below the cursor, and moving up again leads back to its line
// and column, whatever others have written there. After that the last row is free.
void StatusRow::ReserveRow(std::size_t rows) {
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
  const std::size_t rows = SizeOfTerminal(fd_).rows;
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

void StatusRow::Write(const std::string& text) const { WriteUnbuffered(fd_, text); }

}  // namespace leakgate
