#include "runner/cli/heap_tracing/etl_snapshot.h"

namespace leakgate {

void Declare(EtlSnapshotCommand& command, OptionList& options) {
  options.Add("--pid", TextWord("PID"), command.pid, ParsePid, "The process");
  DeclareEtl(command, options);
}

void DeclareEtl(EtlSnapshotCommand& command, OptionList& options) {
  options.Add("--etl", FileWord("FILE"), command.etl,
              "Have wpr take the snapshot, for WPA, into FILE, which must not be there yet");
  options.Add("--for", TextWord("TIME"), command.length, ParseDuration,
              "Trace the process for so long, and then take the snapshot: it has what was "
              "allocated meanwhile. Default: 10s");
}

Expected<void> Complete(EtlSnapshotCommand& command, const ProgramLine& program) {
  if (command.pid != 0 && !command.etl.empty() && program.empty()) return {};
  return UsageError(
      "name a process and a file; for example: leakgate snapshot take --pid 4711 --etl heap.etl");
}

}  // namespace leakgate
