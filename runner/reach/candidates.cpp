#include "runner/reach/candidates.h"

#include <algorithm>

namespace leakgate {

std::vector<std::uint32_t> NumbersOf(std::span<const LiveBlock> candidates,
                                     const std::vector<LiveBlock>& blocks) {
  std::vector<std::uint32_t> numbers;
  numbers.reserve(candidates.size());
  for (const LiveBlock& candidate : candidates) {
    const auto found = std::lower_bound(
        blocks.begin(), blocks.end(), candidate.address,
        [](const LiveBlock& block, std::uint64_t address) { return block.address < address; });
    const bool is_live = found != blocks.end() && found->address == candidate.address &&
                         found->size_bytes == candidate.size_bytes &&
                         found->stack == candidate.stack;
    numbers.push_back(is_live ? static_cast<std::uint32_t>(found - blocks.begin())
                              : BlockIndex::kNone);
  }
  return numbers;
}

std::vector<std::uint32_t> NumbersButFor(const std::vector<bool>& left_out,
                                         const DividedChunks& divided) {
  std::vector<std::uint32_t> numbers;
  numbers.reserve(left_out.size());
  for (std::uint32_t i = 0; i < left_out.size(); ++i) {
    if (!left_out[i] && !divided.IsPiece(i)) numbers.push_back(i);
  }
  return numbers;
}

std::vector<bool> FindIgnored(const ReachRequest& request, const std::vector<LiveBlock>& blocks) {
  const std::vector<bool> allowances = request.region.IgnoredAllowances();
  const bool has_any = std::find(allowances.begin(), allowances.end(), true) != allowances.end();
  if (!has_any && request.is_ignored == nullptr) return {};
  std::vector<bool> ignored;
  for (const LiveBlock& block : blocks) {
    const bool is_codes = block.allowance < allowances.size() && allowances[block.allowance];
    ignored.push_back(is_codes || (request.is_ignored != nullptr && request.is_ignored(block)));
  }
  return ignored;
}

std::vector<std::uint64_t> HeaderBytesOf(const ReachRequest& request,
                                         const std::vector<LiveBlock>& blocks) {
  std::vector<std::uint64_t> bytes;
  if (request.ignored == nullptr) return bytes;
  for (const LiveBlock& block : blocks) {
    const auto header = request.ignored->header_bytes.find(block.stack);
    bytes.push_back(header != request.ignored->header_bytes.end() ? header->second : 0);
  }
  return bytes;
}

std::vector<bool> FindKnownLost(const ReachRequest& request, const std::vector<LiveBlock>& blocks) {
  std::vector<bool> known(blocks.size());
  for (std::size_t i = 0; request.is_known_lost != nullptr && i < blocks.size(); ++i) {
    known[i] = request.is_known_lost(blocks[i]);
  }
  return known;
}

std::vector<bool> FindOwners(const RegionReader& region, const std::vector<LiveBlock>& blocks,
                             const std::vector<bool>& known_lost) {
  constexpr std::uint64_t kMostRead = 16ULL << 20;
  std::uint64_t bytes = 0;
  std::vector<bool> owners(blocks.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (!known_lost[i] || region.KindOf(blocks[i].window) == WindowKind::kTest) continue;
    bytes += blocks[i].size_bytes;
    owners[i] = bytes <= kMostRead;
  }
  return owners;
}

}  // namespace leakgate
