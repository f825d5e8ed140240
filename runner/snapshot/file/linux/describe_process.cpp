#include "runner/snapshot/file/linux/describe_process.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include <chrono>

#include "runner/process/called_name.h"
#include "runner/process/proc_files.h"
#include "runner/process/process_image.h"
#include "runner/snapshot/file/parts.h"

namespace leakgate {
namespace {

std::string BootId() {
  const std::string text = ReadProcFile("/proc/sys/kernel/random/boot_id").value_or("");
  return text.substr(0, text.find('\n'));
}

std::vector<std::string> CommandLineOf(int pid) {
  constexpr std::size_t kMostBytes = 1U << 20;
  const std::string text = ReadProcBegin(pid, "cmdline", kMostBytes);
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size() && words.size() < snapshot_format::kMostWords;) {
    const std::size_t end = std::min(text.find('\0', at), text.size());
    words.push_back(
        text.substr(at, std::min<std::size_t>(end - at, snapshot_format::kMostTextBytes)));
    at = end + 1;
  }
  return words;
}

}  // namespace

SnapshotFacts DescribeProcess(const RegionReader& region, int pid) {
  SnapshotFacts facts;
  facts.pid = pid;
  facts.generation = region.Generation();
  facts.stack_depth = region.StackDepth();
  facts.stack_events = region.StackEvents();
  facts.image = ImageOf(facts.pid);
  facts.command_line = CommandLineOf(facts.pid);
  facts.name = CalledNameOf(facts.pid, facts.image, facts.command_line);
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
