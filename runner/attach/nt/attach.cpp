#include "runner/attach/attach.h"

#include <fmt/format.h>

namespace leakgate {
namespace {

Unexpected NotHere() {
  return UsageError(
      "processes that run already are not traced on Windows; start the program by leakgate run or "
      "leakgate record");
}

}  // namespace

// Also a program that imports the agent itself: without a region, its agent has given up at its
// begin, and nobody has the blocks from before.
std::string UntracedText(int pid) {
  return fmt::format(
      "no session and no run traces PID {}; start the program by leakgate run or leakgate record",
      pid);
}

Expected<Attachment> EnableRunning(const EnableRequest&) { return NotHere(); }

Expected<void> DisableRunning(int) { return NotHere(); }

}  // namespace leakgate
