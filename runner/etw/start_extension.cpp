#include "runner/etw/start_extension.h"

namespace leakgate {
namespace {

constexpr std::uint32_t kProcesses = 2;
constexpr std::uint32_t kStackEvents = 3;

void AddItem(std::uint32_t kind, std::span<const std::uint32_t> values,
             std::vector<std::uint32_t>& to) {
  to.push_back(static_cast<std::uint32_t>(values.size() + 1) | kind << 16U);
  to.insert(to.end(), values.begin(), values.end());
}

}  // namespace

std::vector<std::uint32_t> MakeStartExtension(std::span<const std::uint32_t> processes,
                                              std::span<const std::uint32_t> stack_events) {
  constexpr std::uint32_t kItems = 2;
  std::vector<std::uint32_t> words = {0};
  AddItem(kProcesses, processes, words);
  AddItem(kStackEvents, stack_events, words);
  words[0] = static_cast<std::uint32_t>(words.size()) | kItems << 16U;
  return words;
}

}  // namespace leakgate
