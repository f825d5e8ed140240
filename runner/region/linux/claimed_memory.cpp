#include "runner/region/claimed_memory.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "runner/process/proc_files.h"

namespace leakgate {
namespace {

constexpr std::uint64_t kLeastBytes = 32;  // of a block, with what its allocator keeps for it
// Fewer blocks are not checked.
constexpr std::uint64_t kFewOfChunk = 1U << 16;
constexpr std::uint64_t kFewOfAll = 1U << 20;
constexpr std::uint64_t kMostOfTheDead = 1U << 22;
// No number includes pages that are shared with a file, or are about to be swapped.
constexpr std::uint64_t kUntoldBytes = 32ULL << 20;

// Returns 0 if the kernel does not say.
std::uint64_t BytesOf(int pid, const char* field) {
  const std::string text = StatusField(pid, pid, field);  // "123 kB"
  std::uint64_t kibibytes = 0;
  const auto digit = text.find_first_of("0123456789");
  if (digit == std::string::npos) return 0;
  std::from_chars(text.data() + digit, text.data() + text.size(), kibibytes);
  return kibibytes << 10;
}

}  // namespace

bool ClaimedMemory::IsMappedFor(std::uint64_t begin, std::uint64_t bytes,
                                std::uint64_t blocks) const {
  const Expected<std::vector<MappedRange>> maps = ReadMaps(pid_);
  // The process has ended, or this process may not read it.
  if (!maps || maps->empty()) return true;
  std::uint64_t mapped = 0;
  for (const MappedRange& range : *maps) {
    const std::uint64_t from = std::max(range.begin, begin);
    const std::uint64_t to = std::min(range.end, begin + bytes);
    if (from < to) mapped += to - from;
  }
  return blocks * kLeastBytes <= mapped;
}

bool ClaimedMemory::HasMemoryFor(std::uint64_t blocks) const {
  if (blocks > 2 * counted_ + kFewOfAll) return false;
  const std::uint64_t resident = BytesOf(pid_, "VmRSS");
  if (resident == 0) {
    return blocks <= std::max(kMostOfTheDead, 2 * seen_->most_blocks.load());
  }
  const std::uint64_t all =
      resident + BytesOf(pid_, "VmSwap") + BytesOf(pid_, "HugetlbPages") + kUntoldBytes;
  return blocks <= all / kLeastBytes;
}

bool ClaimedMemory::Add(std::uint64_t begin, std::uint64_t bytes, std::uint64_t blocks,
                        const CountAgain& count_again) {
  bool is_possible = !seen_->is_refuted.load();
  constexpr int kMostAttempts = 4;
  for (int i = 0; is_possible && blocks > kFewOfChunk; ++i) {
    if (IsMappedFor(begin, bytes, blocks)) break;
    is_possible = i < kMostAttempts;
    blocks = count_again();
  }
  blocks_ += blocks;
  if (is_possible && blocks_ > std::max(proved_, kFewOfAll)) {
    is_possible = HasMemoryFor(blocks_);
    proved_ = blocks_ + kFewOfAll;
  }
  if (!is_possible) seen_->is_refuted.store(true);
  return is_possible;
}

void ClaimedMemory::NoteAll() {
  std::uint64_t most = seen_->most_blocks.load();
  while (most < blocks_ && !seen_->most_blocks.compare_exchange_weak(most, blocks_)) {
  }
}

}  // namespace leakgate
