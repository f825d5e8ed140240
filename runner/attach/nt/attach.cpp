#include "runner/attach/attach.h"

namespace leakgate {
namespace {

Unexpected NotHere() {
  return UsageError(
      "processes that run already are not traced on Windows; start the program by leakgate run or "
      "leakgate record");
}

}  // namespace

Expected<Attachment> EnableRunning(const EnableRequest&) { return NotHere(); }

Expected<void> DisableRunning(int) { return NotHere(); }

}  // namespace leakgate
