// Changes of single records of mappings, each of which the runner sees whole or not at
// all. For mapping_table.cpp, which has the lock.
#pragma once

#include <cstdint>

#include "plugin/agent/base/region.h"

namespace leakgate::agent {

// [begin, end), of whole pages.
struct AddressRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  std::uint64_t bytes() const { return end - begin; }
};

// The call that maps.
struct MappingOrigin {
  std::uint32_t stack;
  std::uint32_t context;
  std::uint64_t time_ns;
};

struct MappingNature {
  AllocationKind kind;
  std::uint8_t protection;  // PROT_ bits; 0: reserved only
};

namespace mapping_edit {

// A record that was not in use. `range` begins at 0 where a stack has no address yet.
void Fill(MappingRecord& record, AddressRange range, const MappingOrigin& origin,
          MappingNature nature);
// The same, of a part of another.
void FillAs(const MappingRecord& whole, AddressRange part, MappingRecord& record);

void Place(MappingRecord& record, AddressRange range);
// It goes on to `end`, and is of another call from now on.
void Extend(MappingRecord& record, std::uint64_t end, const MappingOrigin& origin);
void Commit(MappingRecord& record, const MappingOrigin& origin, std::uint8_t protection);
void Decommit(MappingRecord& record);

// Whether two neighbours are of one call; or of one place that commits a reserved range
// bit by bit; or reserved both, which nobody counts.
[[nodiscard]] bool IsOfTheSame(const MappingRecord& a, const MappingRecord& b);

// In its window, unless it is only reserved.
void Count(const MappingRecord& record, std::int64_t change);
// Among all that was ever committed.
void CountEver(std::uint64_t bytes, std::uint8_t protection);

}  // namespace mapping_edit
}  // namespace leakgate::agent
