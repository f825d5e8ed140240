// Changes of single records of mappings. The runner sees each change as a whole or not at all.
// Only mapping_table.cpp calls these; it holds the lock.
#pragma once

#include <cstdint>

#include "plugin/agent/base/region.h"

namespace leakgate::agent {

// The whole pages in [begin, end).
struct AddressRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  std::uint64_t bytes() const { return end - begin; }
};

// The call that has mapped something.
struct MappingOrigin {
  std::uint32_t stack;
  std::uint32_t context;
  std::uint64_t time_ns;
};

// What a mapping may be used for: the values of PROT_READ, PROT_WRITE and PROT_EXEC.
inline constexpr unsigned kMayRead = 1;
inline constexpr unsigned kMayWrite = 2;
inline constexpr unsigned kMayExecute = 4;

struct MappingNature {
  AllocationKind kind;
  std::uint8_t protection;  // of these; 0 if the range is only reserved
};

namespace mapping_edit {

// Fills a record that was not in use. `range` begins at 0 if it is a stack without an address yet.
void Fill(MappingRecord& record, AddressRange range, const MappingOrigin& origin,
          MappingNature nature);
// Fills a record for a part of what another describes.
void FillAs(const MappingRecord& whole, AddressRange part, MappingRecord& record);

void Place(MappingRecord& record, AddressRange range);
// Extends the mapping to `end`. It belongs to another call from now on.
void Extend(MappingRecord& record, std::uint64_t end, const MappingOrigin& origin);
void Commit(MappingRecord& record, const MappingOrigin& origin, std::uint8_t protection);
void Decommit(MappingRecord& record);

// Returns whether two neighbours may be one record: both belong to one call, or to one place in the
// code that commits a reserved range bit by bit, or both are only reserved, so that they are not
// counted.
[[nodiscard]] bool IsOfTheSame(const MappingRecord& a, const MappingRecord& b);

// Counts the record in its window, unless it is only reserved.
void Count(const MappingRecord& record, std::int64_t change);
// Adds bytes to the sum of all that was ever committed.
void CountEver(std::uint64_t bytes, std::uint8_t protection);

}  // namespace mapping_edit
}  // namespace leakgate::agent
