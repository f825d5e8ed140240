// Why the tracer could not record something. A drop never passes: the runner shows the counts and
// calls the verdict inconclusive.
#pragma once

#include <cstdint>

namespace leakgate {

enum class DropReason : std::uint32_t {
  kReentered = 0,                  // a signal handler allocated while the agent was recording
  kAddressRange = 1,               // an address outside the 48 bits that the live map covers
  kUnaligned = 2,                  // an address that is no multiple of 16
  kContextTableFull = 3,           // too many pairs of a window and a thread that allocated in it
  kMapFull = 4,                    // no chunk of the live map left, or none could be mapped
  kWindowTableFull = 5,            // a test, suite or iteration too many
  kTextFull = 6,                   // no room left for a name
  kNoThreadState = 7,              // no memory for a thread's state
  kAllowanceTableFull = 8,         // an allowance in the program's code too many
  kMappingTableFull = 9,           // a mapping too many
  kMeasuringWindowTableFull = 10,  // a measuring window of the program's code too many
  // An allocator in the program's executable has freed a block where the agent does not see it, as
  // it does if the compiler has inlined its functions: it returned the address again.
  kMissedFree = 11,
  kPoolTableFull = 12,  // a pool too many at one time (leakgate/pool.h)
};

inline constexpr std::uint32_t kDropReasonCount = 13;

}  // namespace leakgate
