// What the checking agent found in one image: a file in the directory that
// LEAKGATE_STACK_CHECKS names, PID.GENERATION.checks, mapped shared, so that it
// is whole however the process ends. check.py reads it, by these very offsets.
//
// Stacks that differ are counted by place: how they differ, and the frames on
// both sides of the parting. Each place's first two stacks are written out to
// PID.GENERATION.stacks, for people.
#pragma once

#include <atomic>
#include <cstdint>

#include "common/unwind_end.h"

namespace leakgate::check {

// How a told stack differs from what another unwinder finds.
enum class Difference : std::uint32_t {
  kNone = 0,
  kOtherFrame = 1,  // the frames part
  kGoesOn = 2,      // the told stack goes on where the other ends
  kEndsEarly = 3,   // the other goes on, and the told stack is not at the depth limit
  kNotReached = 4,  // the other unwinder never came to the caller
};

// A pc as "0xOFFSET /path/of/its/module"; empty if there is none.
struct PlacePc {
  char text[192];
};

struct Place {
  std::atomic<std::uint64_t> count;
  Difference difference;  // to libunwind's answer
  Difference to_libgccs;  // to libgcc's
  std::uint64_t pcs[3];   // of the three below
  PlacePc agreed;         // the last frame that both have, inner side of the parting
  PlacePc told;
  PlacePc other;
};
static_assert(sizeof(Place) == 40 + 3 * 192);

struct CheckFile {
  static constexpr std::uint32_t kMaxPlaces = 256;

  std::atomic<std::uint64_t> compared;
  std::atomic<std::uint64_t> equal;
  std::atomic<std::uint64_t> by_libgcc_alone;  // of the compared: libunwind was not loaded yet
  std::atomic<std::uint64_t> frames;           // of the equal stacks
  std::atomic<std::uint64_t> unplaced;         // differing, and no room for their place
  std::atomic<std::uint64_t> place_count;
  std::atomic<std::uint64_t> ends[kUnwindEndCount];  // of the equal stacks
  Place places[kMaxPlaces];
};

}  // namespace leakgate::check
