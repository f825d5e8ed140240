#include "runner/snapshot/file/describe_process.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include <chrono>
#include <utility>

#include "runner/process/proc_files.h"
#include "runner/snapshot/file/parts.h"

namespace leakgate {
namespace {

std::string BootId() {
  const std::string text = ReadProcFile("/proc/sys/kernel/random/boot_id").value_or("");
  return text.substr(0, text.find('\n'));
}

}  // namespace

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
  utsname machine;
  if (::uname(&machine) == 0) {
    facts.host = machine.nodename;
    facts.kernel = fmt::format("{} {} {}", machine.sysname, machine.release, machine.machine);
  }
  facts.boot_id = BootId();
  facts.leakgate_version = LEAKGATE_VERSION;
  return facts;
}

int CountThreads(int pid) { return static_cast<int>(ListThreads(pid).size()); }

FileState StateOfFile(const std::string& path) {
  struct stat status;
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
  return {static_cast<std::uint64_t>(status.st_size),
          static_cast<std::uint64_t>(status.st_mtim.tv_sec) * kNsPerSecond +
              static_cast<std::uint64_t>(status.st_mtim.tv_nsec)};
}

}  // namespace leakgate
