#include "runner/reach/nt/debug_heap.h"

#include <algorithm>

#include "runner/base/time_limit.h"

namespace leakgate {
namespace {

// The layout is in "CRT debug heap details" of Microsoft's documentation: two links, file name,
// line and kind, size of the data, request number, and four bytes 0xfd; the data; four more of
// them.
constexpr std::uint64_t kHeaderBytes = 48;
constexpr std::uint64_t kBytesBehind = 4;
constexpr std::uint64_t kSizeAt = 32;
constexpr std::uint32_t kNoMansLand = 0xfdfdfdfd;

bool HasDebugHeader(const LiveBlock& block, ProcessMemory& memory) {
  if (block.size_bytes < kHeaderBytes + kBytesBehind) return false;
  const std::uint64_t size = block.address + kSizeAt;
  const auto word = [&](std::uint64_t at) -> std::uint64_t {
    const auto words = memory.At(at, at + sizeof(std::uint64_t));
    return words.empty() ? 0 : words.front();
  };
  return word(size) == block.size_bytes - kHeaderBytes - kBytesBehind &&
         word(size + sizeof(std::uint64_t)) >> 32 == kNoMansLand;
}

}  // namespace

void AddDebugHeaders(const std::vector<LiveBlock>& blocks, ProcessMemory& memory,
                     std::vector<std::uint64_t>& header_bytes) {
  TimeCheck time;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    time.Step();
    if (!HasDebugHeader(blocks[i], memory)) continue;
    header_bytes.resize(blocks.size());
    header_bytes[i] = std::max(header_bytes[i], kHeaderBytes);
  }
}

}  // namespace leakgate
