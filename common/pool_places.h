// Where blocks of pools are in the live map.
//
// A pool divides memory that it has from elsewhere, mostly from malloc, so its blocks are within
// others, at any address and as close together as it likes. So they have places of their own, in a
// part of the address space in which nothing is mapped:
//
//   address -> area (by a table in the region) -> place = kPoolPlaces + area * kPoolAreaPlaces
//                                                 + (address % 16) * kPoolPlanePlaces
//                                                 + (address / 16 within the area) * 32
//
// At its place, a block is written as any other (live_slot.h). There, 16 bytes of memory have one
// slot for each of 16 planes, by the low bits of the address. Most pools use one or two planes, and
// only those cost memory. Areas are smaller than a plane has room for: the words of a large block's
// size may lie behind the last slot.
#pragma once

#include <cstdint>

#include "common/system.h"

#include LEAKGATE_COMMON(region_limits)

namespace leakgate {

inline constexpr std::uint32_t kMaxPools = 1U << 15;
inline constexpr std::uint32_t kMaxPoolAreas = 1U << 16;
inline constexpr std::uint64_t kPoolPageBytes = 4096;
inline constexpr std::uint32_t kPoolPagesOfArea = 510;
inline constexpr std::uint64_t kPoolAreaBytes = kPoolPagesOfArea * kPoolPageBytes;
inline constexpr std::uint32_t kPoolPlanes = 16;
inline constexpr std::uint64_t kPoolSlotPlaces = 32;
inline constexpr std::uint64_t kPoolPlanePlaces = 1ULL << 22;
inline constexpr std::uint64_t kPoolAreaPlaces = kPoolPlanes * kPoolPlanePlaces;
static_assert(kPoolAreaBytes / kPoolPlanes * kPoolSlotPlaces < kPoolPlanePlaces);

// Programs of Linux on x86-64 have nothing there. Elsewhere, systems give out addresses from both
// ends of the address space.
inline constexpr std::uint64_t kPoolPlaces = 1ULL << (kAddressBits - 1);
inline constexpr std::uint64_t kPoolPlacesEnd = kPoolPlaces + kMaxPoolAreas * kPoolAreaPlaces;

constexpr bool IsPoolPlace(std::uint64_t place) {
  return place >= kPoolPlaces && place < kPoolPlacesEnd;
}

constexpr std::uint64_t PlaceInArea(std::uint32_t area, std::uint64_t offset) {
  return kPoolPlaces + area * kPoolAreaPlaces + offset % kPoolPlanes * kPoolPlanePlaces +
         offset / kPoolPlanes * kPoolSlotPlaces;
}

constexpr std::uint32_t AreaOfPlace(std::uint64_t place) {
  return static_cast<std::uint32_t>((place - kPoolPlaces) / kPoolAreaPlaces);
}

constexpr std::uint64_t OffsetOfPlace(std::uint64_t place) {
  const std::uint64_t within = (place - kPoolPlaces) % kPoolAreaPlaces;
  return within % kPoolPlanePlaces / kPoolSlotPlaces * kPoolPlanes + within / kPoolPlanePlaces;
}
static_assert(OffsetOfPlace(PlaceInArea(3, 1237)) == 1237 && AreaOfPlace(PlaceInArea(3, 9)) == 3);

}  // namespace leakgate
