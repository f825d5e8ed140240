#include "runner/attach/linux/initial_stack.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "runner/process/proc_files.h"

namespace leakgate {
namespace {

constexpr std::uint64_t kWordBytes = sizeof(std::uint64_t);
constexpr std::uint64_t kAlignment = 16;

// Returns the words up to a zero, and takes them off `words`; nothing if there is no zero.
std::optional<std::vector<std::uint64_t>> TakeList(std::span<const std::uint64_t>& words) {
  const auto end = std::find(words.begin(), words.end(), 0U);
  if (end == words.end()) return std::nullopt;
  std::vector<std::uint64_t> list(words.begin(), end);
  words = words.subspan(list.size() + 1);
  return list;
}

std::optional<std::vector<std::uint64_t>> TakeAuxiliary(std::span<const std::uint64_t> words) {
  for (std::size_t at = 0; at + 1 < words.size(); at += 2) {
    if (words[at] != AT_NULL) continue;
    const std::span<const std::uint64_t> vector = words.first(at + 2);
    return std::vector(vector.begin(), vector.end());
  }
  return std::nullopt;
}

constexpr std::uint64_t AlignDown(std::uint64_t value) { return value & ~(kAlignment - 1); }

}  // namespace

std::optional<InitialStack> ParseInitialStack(std::uint64_t address,
                                              std::span<const std::uint64_t> words) {
  if (words.empty() || address % kAlignment != 0) return std::nullopt;
  const std::uint64_t count = words.front();
  words = words.subspan(1);
  auto arguments = TakeList(words);
  if (!arguments || arguments->size() != count) return std::nullopt;
  auto environment = TakeList(words);
  if (!environment) return std::nullopt;
  auto auxiliary = TakeAuxiliary(words);
  if (!auxiliary) return std::nullopt;
  return InitialStack{address, *std::move(arguments), *std::move(environment),
                      *std::move(auxiliary)};
}

std::vector<std::uint64_t> ReadAuxiliary(int pid) {
  const std::string bytes = ReadProcFile(fmt::format("/proc/{}/auxv", pid)).value_or("");
  std::vector<std::uint64_t> words(bytes.size() / sizeof(std::uint64_t));
  std::copy_n(bytes.data(), words.size() * sizeof(words[0]), reinterpret_cast<char*>(words.data()));
  return words;
}

std::optional<std::uint64_t> AuxiliaryValue(std::span<const std::uint64_t> auxiliary,
                                            std::uint64_t type) {
  for (std::size_t at = 0; at + 1 < auxiliary.size() && auxiliary[at] != AT_NULL; at += 2) {
    if (auxiliary[at] == type) return auxiliary[at + 1];
  }
  return std::nullopt;
}

StackBytes WithEnvironment(const InitialStack& stack, std::span<const StackVariable> environment) {
  std::string strings;
  for (const StackVariable& variable : environment) {
    if (variable.address == 0) strings.append(variable.text.c_str(), variable.text.size() + 1);
  }
  std::uint64_t string_at = AlignDown(stack.address - strings.size());

  std::vector<std::uint64_t> words = {stack.arguments.size()};
  words.insert(words.end(), stack.arguments.begin(), stack.arguments.end());
  words.push_back(0);
  const std::uint64_t strings_at = string_at;
  for (const StackVariable& variable : environment) {
    words.push_back(variable.address == 0 ? string_at : variable.address);
    if (variable.address == 0) string_at += variable.text.size() + 1;
  }
  words.push_back(0);
  words.insert(words.end(), stack.auxiliary.begin(), stack.auxiliary.end());

  const std::uint64_t word_bytes = words.size() * kWordBytes;
  StackBytes built;
  built.address = AlignDown(strings_at - word_bytes);
  built.bytes.resize(stack.address - built.address);
  std::memcpy(built.bytes.data(), words.data(), word_bytes);
  std::memcpy(&built.bytes[strings_at - built.address], strings.data(), strings.size());
  return built;
}

}  // namespace leakgate
