#include "runner/process/process_tree.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "common/region_layout.h"
#include "runner/base/descriptors.h"
#include "runner/process/linux/open_proc_file.h"
#include "runner/process/proc_files.h"
#include "runner/process/process_image.h"

namespace leakgate {
namespace {

struct ProcessFacts {
  int parent = 0;
  bool is_zombie = false;
  std::uint64_t start = 0;  // when it was started; 0 if that is unknown
};

// Reads "pid (name) state parent ...", where the start is field 22. The name may contain anything,
// so reading begins at its end.
ProcessFacts FactsOf(int pid) {
  const std::string stat = ReadProcFile(fmt::format("/proc/{}/stat", pid)).value_or("");
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos || name_end + 4 > stat.size()) return {};
  std::size_t at = name_end + 1;
  for (int field = 3; field < 22 && at != std::string::npos; ++field) at = stat.find(' ', at + 1);
  return {static_cast<pid_t>(std::atoi(stat.c_str() + name_end + 4)), stat[name_end + 2] == 'Z',
          at == std::string::npos ? 0 : std::strtoull(stat.c_str() + at, nullptr, 10)};
}

std::map<pid_t, ProcessFacts> AllProcessesBut(const std::set<pid_t>& strangers) {
  std::map<pid_t, ProcessFacts> processes;
  for (const int pid : ListProcesses()) {
    if (!strangers.contains(pid)) processes[pid] = FactsOf(pid);
  }
  return processes;
}

bool DescendsFrom(int pid, int root, const std::map<pid_t, ProcessFacts>& processes) {
  for (int depth = 0; depth < 1000 && pid > 1; ++depth) {
    if (pid == root) return true;
    const auto found = processes.find(pid);
    if (found == processes.end()) return false;
    pid = found->second.parent;
  }
  return false;
}

// What has this run's mark was started after this process, so others' environments, which may be
// those of hundreds of processes, need not be read.
bool MayCarryMark(const ProcessFacts& facts, std::uint64_t own_start) {
  return facts.start == 0 || facts.start >= own_start;
}

// Adds to `strangers` what is older than this process, and need not be looked at again.
std::vector<pid_t> FindTree(int root, const std::string& mark, std::set<pid_t>& strangers) {
  std::map<pid_t, ProcessFacts> processes = AllProcessesBut(strangers);
  // Children of this process can be found even where a filter forbids listing processes.
  const ProcessFacts facts_of_root = FactsOf(root);
  if (facts_of_root.parent == ::getpid()) processes[root] = facts_of_root;
  std::vector<pid_t> found;
  const std::uint64_t own_start = FactsOf(::getpid()).start;
  for (const auto& [pid, facts] : processes) {
    if (pid == ::getpid() || facts.is_zombie) continue;
    const bool may_carry = MayCarryMark(facts, own_start);
    if (DescendsFrom(pid, root, processes) || (may_carry && CarriesMark(pid, mark))) {
      found.push_back(pid);
    } else if (!may_carry) {
      strangers.insert(pid);
    }
  }
  return found;
}

// Returns where `pid` has mapped the beginning of a region.
std::optional<std::uint64_t> RegionIn(int pid) {
  const Expected<std::vector<MappedRange>> maps = ReadMaps(pid);
  if (!maps) return std::nullopt;
  for (const MappedRange& range : *maps) {
    const bool begins = range.is_writable && range.file_offset == 0;
    if (begins && range.name.starts_with("/memfd:leakgate")) return range.begin;
  }
  return std::nullopt;
}

// Returns the PID of the runner that made the region at `address`; 0 if there is no region, or if
// it cannot be read.
int OwnerOf(int pid, std::uint64_t address) {
  const UniqueFd memory = OpenProcFile(pid, "mem");
  std::uint64_t magic = 0;
  std::int32_t owner = 0;
  const auto read = [&](void* to, std::size_t bytes, std::size_t offset) {
    return memory && ::pread(memory.get(), to, bytes, static_cast<off_t>(address + offset)) ==
                         static_cast<ssize_t>(bytes);
  };
  const bool is_region = read(&magic, sizeof(magic), offsetof(RegionHeader, magic)) &&
                         magic == kRegionMagic &&
                         read(&owner, sizeof(owner), offsetof(RegionHeader, runner_pid));
  return is_region ? owner : 0;
}

}  // namespace

void KillProcessTree(int root, const std::string& mark) {
  using Clock = std::chrono::steady_clock;
  using std::chrono::milliseconds;
  constexpr int kAttempts = 50;
  constexpr milliseconds kPatience(20);
  std::set<pid_t> strangers;
  for (int i = 0; i < kAttempts; ++i) {
    const std::vector<pid_t> tree = FindTree(root, mark, strangers);
    if (tree.empty()) return;
    std::vector<UniqueFd> watches;
    for (const int pid : tree) {
      watches.push_back(WatchEnd(pid));
      ::kill(pid, SIGKILL);
    }
    const Clock::time_point deadline = Clock::now() + kPatience;
    for (const UniqueFd& watch : watches) {
      const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
      AwaitEnd(watch, std::max(left, milliseconds(0)));
    }
  }
}

bool IsBelow(int pid, int root) {
  constexpr int kDeepest = 1000;  // parents may change while they are read
  for (int depth = 0; depth < kDeepest && pid > 1; ++depth) {
    if (pid == root) return true;
    pid = ParentOf(pid);
  }
  return false;
}

bool CarriesMark(int pid, const std::string& mark) {
  const std::string environment = ReadProcBegin(pid, "environ", kMostEnvironment);
  return !mark.empty() && environment.find(mark) != std::string::npos;
}

int ParentOf(int pid) { return FactsOf(pid).parent; }

std::vector<Orphan> FindOrphans() {
  std::vector<Orphan> orphans;
  for (const int pid : ListProcesses()) {
    const std::optional<std::uint64_t> region = RegionIn(pid);
    const int owner = region ? OwnerOf(pid, *region) : 0;
    if (owner <= 0 || !HasDied(owner, owner)) continue;
    ExecutedProgram program = ExecutedProgramOf(pid);
    orphans.push_back({pid, owner, std::move(program.path), std::move(program.name)});
  }
  std::sort(orphans.begin(), orphans.end(),
            [](const Orphan& a, const Orphan& b) { return a.pid < b.pid; });
  return orphans;
}

}  // namespace leakgate
