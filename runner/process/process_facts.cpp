#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "runner/process/proc_files.h"
#include "runner/process/process_image.h"

namespace leakgate {

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

const MappedRange* FindRange(const std::vector<MappedRange>& ranges, std::uint64_t address) {
  const auto after = std::upper_bound(
      ranges.begin(), ranges.end(), address,
      [](std::uint64_t wanted, const MappedRange& range) { return wanted < range.begin; });
  if (after == ranges.begin()) return nullptr;
  const MappedRange& range = *(after - 1);
  return range.Has(address) ? &range : nullptr;
}

ExecutedProgram Shortened(ExecutedProgram program, std::size_t most_bytes) {
  constexpr std::size_t kMostArguments = 32;
  constexpr std::string_view kCut = "...";
  for (std::string* path : {&program.path, &program.name}) {
    if (path->size() > most_bytes) path->replace(0, path->size() - most_bytes, kCut);
  }
  std::vector<std::string>& arguments = program.arguments;
  std::size_t left = most_bytes;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (i == kMostArguments || left == 0) {
      arguments.resize(i);
      arguments.emplace_back(kCut);
      break;
    }
    if (arguments[i].size() > left) arguments[i].replace(left, std::string::npos, kCut);
    left -= std::min(left, arguments[i].size());
    arguments[i].shrink_to_fit();
  }
  arguments.shrink_to_fit();
  return program;
}

}  // namespace leakgate
