// Sessions are held by a process that others ask for regions, on Linux. Here the runner that starts
// a program hands it the region, so nobody else could.
#include "runner/sessions/session_owner.h"

namespace leakgate {

Expected<void> StartSession(const SessionStart&) {
  return UsageError(
      "processes that run already, and those that others start, are not traced on Windows; start "
      "the program by leakgate run or leakgate record");
}

}  // namespace leakgate
