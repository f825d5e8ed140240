#include "runner/arch/thread_area.h"

#include <algorithm>
#include <array>

namespace leakgate {
namespace {

constexpr std::uint64_t kWordBytes = 8;
constexpr std::uint64_t kHeadBytes = 16;  // at the thread pointer (AAELF64, TLS: variant I)

constexpr std::uint64_t RoundUp(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

}  // namespace

ThreadArea ThreadAreaAt(std::uint64_t thread_pointer, std::uint64_t local_bytes) {
  return {(thread_pointer - kMostDescriptorBytes) & ~(kWordBytes - 1),
          thread_pointer + kHeadBytes + local_bytes};
}

std::uint64_t ProgramLocalsAt(std::uint64_t thread_pointer, std::uint64_t,
                              std::uint64_t alignment) {
  return thread_pointer + RoundUp(kHeadBytes, std::max<std::uint64_t>(alignment, 1));
}

// A descriptor contains the head of the list of robust mutexes that its thread holds
// (get_robust_list(2)), after a pointer to the head. The list is empty, so the head points to
// itself; then comes where a mutex has its lock, as seen from its link.
std::vector<std::uint64_t> FindDescriptors(std::uint64_t address,
                                           std::span<const std::uint64_t> words) {
  constexpr auto kLockAt = static_cast<std::uint64_t>(-32);
  std::vector<std::uint64_t> found;
  for (std::size_t i = 0; i + 2 < words.size(); ++i) {
    if (words[i + 2] != kLockAt) continue;
    const std::uint64_t head = address + (i + 1) * kWordBytes;
    if (words[i] == head && words[i + 1] == head) found.push_back(head);
  }
  return found;
}

// In front of that, a descriptor has the thread's number, which the kernel sets to 0 when the
// thread ends. After it, the descriptor has the begin of the stack including its guard, the stack's
// length and the guard's length.
std::optional<std::uint64_t> EndOfKeptStack(std::uint64_t descriptor, const StackPlace& place,
                                            std::span<const std::uint64_t>,
                                            const WordReader& read) {
  const std::uint64_t at_number = descriptor - 2 * kWordBytes;
  const auto number = read(at_number);
  constexpr std::uint64_t kNumberMask = 0xFFFF'FFFF;
  if (!number || (*number & kNumberMask) != 0) return std::nullopt;
  std::array<std::uint64_t, 3> last{};  // block, its bytes, bytes of the guard
  for (std::uint64_t at = descriptor; at < descriptor + kMostDescriptorBytes; at += kWordBytes) {
    const auto word = read(at);
    if (!word) break;
    last = {last[1], last[2], *word};
    const std::uint64_t end = last[0] + last[1];
    const bool has_place = last[0] >= place.guard && last[0] + last[2] == place.begin;
    if (has_place && end > at && end <= place.end) return end;
  }
  return std::nullopt;
}

}  // namespace leakgate
