// The system does not say which pages of a section have been written, so the agent notes them, by
// pieces of kMappingAlignment bytes (common/region_layout.h).
#include "runner/region/written_pages.h"

#include <windows.h>

#include <algorithm>
#include <atomic>

#include "common/region_layout.h"
#include "runner/base/page_size.h"

namespace leakgate {
namespace {

// Calls `use(begin, end)` for each piece of `within` that is noted.
template <typename Use>
bool ForEachPiece(const UniqueFd& region, std::optional<Mapping>& notes, FileRange within,
                  Use use) {
  if (!notes) {
    Expected<Mapping> mapped = Mapping::Map(region, region_offset::kTouched,
                                            region_offset::kTouchedBytes, MappingAccess::kReadOnly);
    if (!mapped) return false;
    notes.emplace(*std::move(mapped));
  }
  const auto* const bytes = reinterpret_cast<const std::atomic<std::uint8_t>*>(notes->data());
  for (std::uint64_t at = within.begin; at < within.end; at += kMappingAlignment) {
    const std::uint64_t piece = (at - region_offset::kDirectory) / kMappingAlignment;
    // Acquire pairs with the agent's release.
    if (bytes[piece].load(std::memory_order_acquire) == 0) continue;
    use(FileRange{at, std::min(at + kMappingAlignment, within.end)});
  }
  return true;
}

}  // namespace

// A chunk is committed as a whole, and never decommitted: the system refuses that for sections.
bool CanBeRead(const Mapping& mapping) {
  MEMORY_BASIC_INFORMATION facts;
  if (::VirtualQuery(mapping.data(), &facts, sizeof(facts)) == 0) return false;
  return facts.State == MEM_COMMIT && facts.RegionSize >= mapping.size();
}

std::optional<std::uint64_t> WrittenPages::Count(FileRange within) {
  std::uint64_t pages = 0;
  const auto count = [&](FileRange piece) { pages += (piece.end - piece.begin) / PageBytes(); };
  if (!ForEachPiece(region_, notes_, within, count)) return std::nullopt;
  return pages;
}

std::vector<FileRange> WrittenPages::Find(FileRange within) {
  std::vector<FileRange> found;
  const auto add = [&](FileRange piece) {
    if (!found.empty() && found.back().end == piece.begin) {
      found.back().end = piece.end;
    } else {
      found.push_back(piece);
    }
  };
  if (!ForEachPiece(region_, notes_, within, add)) return {within};
  return found;
}

}  // namespace leakgate
