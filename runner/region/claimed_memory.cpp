#include "runner/region/claimed_memory.h"

#include <algorithm>
#include <optional>

#include "runner/region/process_memory.h"

namespace leakgate {
namespace {

// Fewer blocks are not checked.
constexpr std::uint64_t kFewOfChunk = 1U << 16;
constexpr std::uint64_t kFewOfAll = 1U << 20;
constexpr std::uint64_t kMostOfTheDead = 1U << 22;
// No number includes pages that are shared with a file, or are about to be swapped.
constexpr std::uint64_t kUntoldBytes = 32ULL << 20;

}  // namespace

bool ClaimedMemory::IsMappedFor(std::uint64_t begin, std::uint64_t bytes,
                                std::uint64_t blocks) const {
  const std::optional<std::uint64_t> mapped = MappedBytes(pid_, begin, bytes);
  // If nothing is said, the process has ended, or this process may not read it.
  return !mapped || blocks * LeastBytesOfBlock() <= *mapped;
}

bool ClaimedMemory::HasMemoryFor(std::uint64_t blocks) const {
  if (blocks > 2 * counted_ + kFewOfAll) return false;
  const std::uint64_t bytes = BytesOfMemory(pid_);
  if (bytes == 0) return blocks <= std::max(kMostOfTheDead, 2 * seen_->most_blocks.load());
  return blocks <= (bytes + kUntoldBytes) / LeastBytesOfBlock();
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
  return AddToAll(blocks, is_possible);
}

bool ClaimedMemory::AddPooled(std::uint64_t blocks) {
  return AddToAll(blocks / 4, !seen_->is_refuted.load());
}

bool ClaimedMemory::AddToAll(std::uint64_t blocks, bool is_possible) {
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
