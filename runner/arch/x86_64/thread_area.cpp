#include "runner/arch/thread_area.h"

#include <algorithm>
#include <array>

namespace leakgate {
namespace {

constexpr std::uint64_t kWordBytes = 8;
constexpr std::uint64_t kDescriptorAlignment = 64;

// The two random numbers that protect stacks and pointers. All threads of a process have the same.
using Guards = std::array<std::uint64_t, 2>;
std::optional<Guards> GuardsAt(std::uint64_t descriptor, const WordReader& read) {
  constexpr std::uint64_t kGuardsAt = 0x28;
  const auto stack_guard = read(descriptor + kGuardsAt);
  const auto pointer_guard = read(descriptor + kGuardsAt + kWordBytes);
  if (!stack_guard || !pointer_guard) return std::nullopt;
  return Guards{*stack_guard, *pointer_guard};
}

}  // namespace

ThreadArea ThreadAreaAt(std::uint64_t thread_pointer, std::uint64_t local_bytes) {
  return {(thread_pointer - local_bytes) & ~(kWordBytes - 1),
          thread_pointer + kMostDescriptorBytes};
}

std::uint64_t ProgramLocalsAt(std::uint64_t thread_pointer, std::uint64_t bytes,
                              std::uint64_t alignment) {
  return thread_pointer - (bytes + alignment - 1) / alignment * alignment;
}

// A descriptor points to itself twice.
std::vector<std::uint64_t> FindDescriptors(std::uint64_t address,
                                           std::span<const std::uint64_t> words) {
  std::vector<std::uint64_t> found;
  const std::uint64_t unaligned = address % kDescriptorAlignment;
  const std::size_t first = (kDescriptorAlignment - unaligned) % kDescriptorAlignment / kWordBytes;
  for (std::size_t i = first; i + 2 < words.size(); i += kDescriptorAlignment / kWordBytes) {
    const std::uint64_t at = address + i * kWordBytes;
    if (words[i] == at && words[i + 2] == at) found.push_back(at);
  }
  return found;
}

// Any structure may point to itself, so the random numbers decide. Live threads' descriptors have
// them, so they are not read there: with many threads, that would be most of a look.
std::optional<std::uint64_t> EndOfKeptStack(std::uint64_t descriptor, const StackPlace& place,
                                            std::span<const std::uint64_t> threads,
                                            const WordReader& read) {
  const std::uint64_t end = std::min(descriptor + kMostDescriptorBytes, place.end);
  if (std::find(threads.begin(), threads.end(), descriptor) != threads.end()) return end;
  const std::optional<Guards> guards = GuardsAt(descriptor, read);
  bool is_known = false;
  for (const std::uint64_t thread : threads) {
    const std::optional<Guards> of_thread = GuardsAt(thread, read);
    if (!of_thread) continue;
    if (of_thread == guards) return end;
    is_known = true;
  }
  if (is_known) return std::nullopt;
  return end;
}

}  // namespace leakgate
