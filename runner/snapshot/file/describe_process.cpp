#include "runner/snapshot/file/describe_process.h"

#include <chrono>
#include <utility>

#include "runner/snapshot/file/parts.h"

namespace leakgate {

SnapshotFacts DescribeProcess(const RegionReader& region, int pid, ExecutedProgram program) {
  SnapshotFacts facts;
  facts.pid = pid;
  facts.generation = region.Generation();
  facts.stack_depth = region.StackDepth();
  facts.stack_events = region.StackEvents();
  facts.image = std::move(program.path);
  facts.name = std::move(program.name);
  facts.command_line = std::move(program.arguments);
  if (facts.command_line.size() > snapshot_format::kMostWords) {
    facts.command_line.resize(snapshot_format::kMostWords);
  }
  for (std::string& word : facts.command_line) {
    if (word.size() > snapshot_format::kMostTextBytes) word.resize(snapshot_format::kMostTextBytes);
  }
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  facts.taken_unix_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count());
  MachineFacts machine = DescribeMachine();
  facts.host = std::move(machine.host);
  facts.kernel = std::move(machine.kernel);
  facts.boot_id = std::move(machine.boot_id);
  facts.leakgate_version = LEAKGATE_VERSION;
  return facts;
}

}  // namespace leakgate
