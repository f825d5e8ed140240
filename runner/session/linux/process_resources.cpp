#include "runner/session/linux/process_resources.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace leakgate {
namespace {

namespace fs = std::filesystem;

template <typename Use>
void ForEachNumber(const std::string& directory, Use use) {
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    use(std::atoi(entry->path().filename().c_str()), entry->path());
  }
}

std::string FirstLine(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// Not the program's to unmap: leakgate's region, the stacks, the break heap, what
// the kernel maps.
bool Counts(const std::string& name, const std::string& permissions) {
  if (permissions.starts_with("---")) return false;  // a guard
  return !name.starts_with("[") && name.find("memfd:leakgate") == std::string::npos;
}

// "7f00-7f10 rw-p 00000000 00:00 0    /path".
void ReadMappings(int pid, ProcessResources& resources) {
  std::ifstream maps(fmt::format("/proc/{}/maps", pid));
  for (std::string line; std::getline(maps, line);) {
    std::istringstream fields(line);
    std::string range, permissions, offset, device, inode, name;
    fields >> range >> permissions >> offset >> device >> inode;
    std::getline(fields >> std::ws, name);
    const std::size_t dash = range.find('-');
    if (dash == std::string::npos || !Counts(name, permissions)) continue;
    const std::uint64_t begin = std::strtoull(range.c_str(), nullptr, 16);
    const std::uint64_t end = std::strtoull(range.c_str() + dash + 1, nullptr, 16);
    resources.mappings[begin] = {end, name};
  }
}

// How many bytes of [begin, end) were in no mapping.
std::int64_t NewBytes(std::uint64_t begin, std::uint64_t end, const ProcessResources& before) {
  std::uint64_t known = 0;
  auto mapping = before.mappings.upper_bound(begin);
  if (mapping != before.mappings.begin()) --mapping;
  for (; mapping != before.mappings.end() && mapping->first < end; ++mapping) {
    const std::uint64_t first = std::max(begin, mapping->first);
    const std::uint64_t last = std::min(end, mapping->second.end);
    if (first < last) known += last - first;
  }
  return static_cast<std::int64_t>(end - begin - known);
}

bool HoldsAny(std::uint64_t begin, std::uint64_t end, const std::vector<std::uint64_t>& others) {
  const auto first = std::lower_bound(others.begin(), others.end(), begin);
  return first != others.end() && *first < end;
}

}  // namespace

ProcessResources ReadResources(int pid) {
  ProcessResources resources;
  ForEachNumber(fmt::format("/proc/{}/fd", pid), [&](int fd, const fs::path& path) {
    std::error_code error;
    resources.file_descriptors[fd] = fs::read_symlink(path, error).string();
  });
  ForEachNumber(fmt::format("/proc/{}/task", pid), [&](int tid, const fs::path& path) {
    resources.threads[tid] = FirstLine(path / "comm");
  });
  ReadMappings(pid, resources);
  return resources;
}

ResourcesLeft LeftBetween(const ProcessResources& before, const ProcessResources& after,
                          const std::vector<std::uint64_t>& others) {
  ResourcesLeft left;
  for (const auto& [fd, target] : after.file_descriptors) {
    const auto known = before.file_descriptors.find(fd);
    if (known != before.file_descriptors.end() && known->second == target) continue;
    if (known == before.file_descriptors.end()) ++left.file_descriptors;
    left.names.push_back(fmt::format("file descriptor {}: {}", fd, target));
  }
  for (const auto& [tid, name] : after.threads) {
    if (before.threads.contains(tid)) continue;
    ++left.threads;
    left.names.push_back(fmt::format("thread {} '{}'", tid, name));
  }
  for (const auto& [begin, mapping] : after.mappings) {
    if (HoldsAny(begin, mapping.end, others)) continue;
    const std::int64_t bytes = NewBytes(begin, mapping.end, before);
    if (bytes == 0) continue;
    left.mapped_bytes += bytes;
    left.names.push_back(
        fmt::format("mapping of {} B{}{}", bytes, mapping.name.empty() ? "" : ": ", mapping.name));
  }
  return left;
}

}  // namespace leakgate
