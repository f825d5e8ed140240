#include "runner/process/orphans.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <optional>

#include "common/region_layout.h"
#include "runner/base/descriptors.h"
#include "runner/process/memory_layout.h"
#include "runner/process/proc_files.h"
#include "runner/process/process_image.h"

namespace leakgate {
namespace {

// Where `pid` has mapped the beginning of a region.
std::optional<std::uint64_t> RegionIn(int pid) {
  const Expected<std::vector<MappedRange>> maps = ReadMaps(pid);
  if (!maps) return std::nullopt;
  for (const MappedRange& range : *maps) {
    const bool begins = range.is_writable && range.file_offset == 0;
    if (begins && range.name.starts_with("/memfd:leakgate")) return range.begin;
  }
  return std::nullopt;
}

// Who made the region at `address`; 0 if it is none, or cannot be read.
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

std::vector<Orphan> FindOrphans() {
  std::vector<Orphan> orphans;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const int pid = std::atoi(entry.path().filename().c_str());
    if (pid <= 0) continue;
    const std::optional<std::uint64_t> region = RegionIn(pid);
    const int owner = region ? OwnerOf(pid, *region) : 0;
    if (owner > 0 && HasDied(owner, owner)) orphans.push_back({pid, owner, ImageOf(pid)});
  }
  std::sort(orphans.begin(), orphans.end(),
            [](const Orphan& a, const Orphan& b) { return a.pid < b.pid; });
  return orphans;
}

}  // namespace leakgate
