#include "runner/cli/heap_tracing/etl_snapshot.h"

#include <fmt/format.h>

#include <algorithm>

#include "runner/base/nt/win32.h"
#include "runner/base/path_text.h"
#include "runner/base/signal_end.h"
#include "runner/cli/heap_tracing/nt/wpr.h"
#include "runner/cli/terminal.h"

namespace leakgate {
namespace {

constexpr std::chrono::milliseconds kStep{50};

// What has been begun is undone, whatever happens, the last first.
class BegunSnapshot {
 public:
  BegunSnapshot(const Wpr& wpr, std::string pid) : wpr_(wpr), pid_(std::move(pid)) {}
  ~BegunSnapshot() {
    if (is_recording_) Undo({"-cancel"});
    if (is_enabled_) Undo({"-snapshotconfig", "heap", "-pid", pid_, "disable"});
  }
  BegunSnapshot(const BegunSnapshot&) = delete;
  BegunSnapshot& operator=(const BegunSnapshot&) = delete;

  Expected<void> Begin() {
    LEAKGATE_TRY(wpr_.Run({"-snapshotconfig", "heap", "-pid", pid_, "enable"}));
    is_enabled_ = true;
    LEAKGATE_TRY(wpr_.Run({"-start", "heapsnapshot", "-filemode"}));
    is_recording_ = true;
    return {};
  }
  Expected<void> TakeInto(const std::filesystem::path& file) {
    LEAKGATE_TRY(wpr_.Run({"-singlesnapshot", "heap", pid_}));
    LEAKGATE_TRY(wpr_.StopInto(file));
    is_recording_ = false;
    return {};
  }

 private:
  void Undo(const std::vector<std::string>& arguments) const {
    if (const Expected<void> undone = wpr_.Run(arguments); !undone) {
      PrintMessage(undone.error().message);
    }
  }

  const Wpr& wpr_;
  std::string pid_;
  bool is_enabled_ = false;
  bool is_recording_ = false;
};

Expected<void> RequireProcess(int pid) {
  const UniqueFd process =
      OwnHandle(OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, static_cast<DWORD>(pid)));
  if (process || GetLastError() == ERROR_ACCESS_DENIED) return {};
  return UsageError(fmt::format("there is no process with PID {}; name one that runs", pid));
}

Expected<void> WaitFor(std::chrono::milliseconds length, EndSignalDeferral& signal) {
  const auto end = std::chrono::steady_clock::now() + length;
  while (std::chrono::steady_clock::now() < end) {
    if (signal.WasAskedToEnd()) {
      return InconclusiveError("interrupted before the snapshot; nothing was written");
    }
    Sleep(static_cast<DWORD>(std::min(kStep, length).count()));
  }
  return {};
}

}  // namespace

Expected<int> Execute(const EtlSnapshotCommand& command) {
  LEAKGATE_TRY(Wpr::CheckPlace(command.etl));
  LEAKGATE_TRY_ASSIGN(const Wpr wpr, Wpr::Find());
  LEAKGATE_TRY(RequireProcess(command.pid));
  EndSignalDeferral signal;
  BegunSnapshot snapshot(wpr, std::to_string(command.pid));
  LEAKGATE_TRY(snapshot.Begin());
  Print(stdout, fmt::format("leakgate: PID {} is traced for {} s; Ctrl-C ends that, and writes "
                            "nothing\n",
                            command.pid, static_cast<double>(command.length.count()) / 1000));
  (void)FlushOutput();
  LEAKGATE_TRY(WaitFor(command.length, signal));
  LEAKGATE_TRY(snapshot.TakeInto(command.etl));
  Print(stderr, fmt::format("leakgate: wrote {}\n", Printable(PathText(command.etl))));
  return kExitPass;
}

}  // namespace leakgate
