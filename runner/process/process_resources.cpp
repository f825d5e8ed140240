#include "runner/process/process_resources.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "runner/process/proc_files.h"

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

}  // namespace

ProcessResources ReadResources(int pid) {
  ProcessResources resources;
  ForEachNumber(fmt::format("/proc/{}/fd", pid), [&](int fd, const fs::path& path) {
    std::error_code error;
    resources.file_descriptors[fd] = fs::read_symlink(path, error).string();
  });
  ForEachNumber(fmt::format("/proc/{}/task", pid),
                [&](int tid, const fs::path&) { resources.threads[tid] = NameOfThread(pid, tid); });
  return resources;
}

ResourcesLeft LeftBetween(const ProcessResources& before, const ProcessResources& after) {
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
  return left;
}

}  // namespace leakgate
