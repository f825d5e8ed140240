#include "runner/snapshot_file/linux/describe_process.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "runner/snapshot_file/format.h"
#include "runner/util/linux/process_status.h"

namespace leakgate {
namespace {

// Files of /proc tell no size: the first so many bytes.
std::string ReadStart(const std::string& path, std::size_t most_bytes) {
  std::ifstream in(path, std::ios::binary);
  std::string text(most_bytes, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

std::string FirstLine(const std::string& path) {
  const std::string text = ReadStart(path, 256);
  return text.substr(0, text.find('\n'));
}

std::vector<std::string> CommandLineOf(int pid) {
  constexpr std::size_t kMostBytes = 1U << 20;
  const std::string text = ReadStart(fmt::format("/proc/{}/cmdline", pid), kMostBytes);
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size() && words.size() < snapshot_format::kMostWords;) {
    const std::size_t end = std::min(text.find('\0', at), text.size());
    words.push_back(
        text.substr(at, std::min<std::size_t>(end - at, snapshot_format::kMostTextBytes)));
    at = end + 1;
  }
  return words;
}

std::string ImageOf(int pid) {
  std::error_code has_gone;
  return std::filesystem::read_symlink(fmt::format("/proc/{}/exe", pid), has_gone).string();
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
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  facts.taken_unix_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count());
  utsname machine;
  if (::uname(&machine) == 0) {
    facts.host = machine.nodename;
    facts.kernel = fmt::format("{} {} {}", machine.sysname, machine.release, machine.machine);
  }
  facts.boot_id = FirstLine("/proc/sys/kernel/random/boot_id");
  facts.leakgate_version = LEAKGATE_VERSION;
  return facts;
}

int CountThreads(int pid) { return static_cast<int>(TasksOf(pid).size()); }

std::string NameOfThread(int pid, int tid) {
  return FirstLine(fmt::format("/proc/{}/task/{}/comm", pid, tid));
}

}  // namespace leakgate
