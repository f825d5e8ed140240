#include "runner/reach/nt/debug_heap.h"

#include <algorithm>
#include <string>

#include "runner/base/path_text.h"
#include "runner/base/time_limit.h"
#include "runner/reach/block_index.h"
#include "runner/result/debug_header.h"

namespace leakgate {
namespace {

// A header is two links, the file's name, line and kind, the size of the data, the request's
// number, and four bytes 0xfd, of which there are four more behind the data.
struct EndOfHeader {
  std::uint64_t data_bytes = 0;
  std::uint32_t request = 0;
  std::uint32_t no_mans_land = 0;
};
constexpr std::uint64_t kEndAt = kDebugHeaderBytes - sizeof(EndOfHeader);

bool HasDebugHeader(const LiveBlock& block, const EndOfHeader& end) {
  return end.data_bytes == block.size_bytes - kDebugBytes && end.no_mans_land == 0xfdfdfdfd;
}

// Returns whether one of the candidates has one; few are asked.
bool HasAny(const DebugHeapSources& from, const ProcessMemory& memory) {
  constexpr std::size_t kMostAsked = 200;
  const std::size_t step = from.candidates.size() / kMostAsked + 1;
  for (std::size_t i = 0; i < from.candidates.size(); i += step) {
    if (from.candidates[i] == BlockIndex::kNone) continue;
    const LiveBlock& block = from.blocks[from.candidates[i]];
    if (block.size_bytes < kDebugBytes) continue;
    const std::uint64_t at = block.address + kEndAt;
    EndOfHeader end;
    const bool is_read = memory.Read({at, at + sizeof end}, &end) == sizeof end;
    if (is_read && HasDebugHeader(block, end)) return true;
  }
  return false;
}

bool IsDebugRuntime(const ImageModule& module) {
  const std::string name = FoldedPath(FileNameIn(module.path));
  return name == "ucrtbased.dll" || (name.starts_with("msvcr") && name.ends_with("d.dll"));
}

}  // namespace

void AddDebugHeaders(const DebugHeapSources& from, ProcessMemory& memory,
                     std::vector<std::uint64_t>& header_bytes) {
  const bool has_runtime = std::any_of(from.modules.begin(), from.modules.end(), IsDebugRuntime);
  if (!has_runtime && !HasAny(from, memory)) return;
  TimeCheck time;
  for (std::size_t i = 0; i < from.blocks.size(); ++i) {
    time.Step();
    const LiveBlock& block = from.blocks[i];
    if (block.size_bytes < kDebugBytes) continue;
    const auto word = [&](std::uint64_t at) {
      const auto words = memory.At(at, at + sizeof(std::uint64_t));
      return words.empty() ? 0 : words.front();
    };
    const std::uint64_t last = word(block.address + kEndAt + sizeof(std::uint64_t));
    const EndOfHeader end{word(block.address + kEndAt), static_cast<std::uint32_t>(last),
                          static_cast<std::uint32_t>(last >> 32)};
    if (!HasDebugHeader(block, end)) continue;
    header_bytes.resize(from.blocks.size());
    header_bytes[i] = std::max(header_bytes[i], kDebugHeaderBytes);
  }
}

}  // namespace leakgate
