// What differs between processors in ELF files (ELF for the Arm 64-bit Architecture, section 5.7).
#pragma once

#include <elf.h>

#include <cstdint>

namespace leakgate::agent {

inline constexpr std::uint16_t kElfMachine = EM_AARCH64;

// Relocations that fill a slot with a function's address: one that calls go through, one that code
// reads, and a pointer among data.
inline constexpr std::uint32_t kCallSlotRelocation = R_AARCH64_JUMP_SLOT;
inline constexpr std::uint32_t kAddressSlotRelocation = R_AARCH64_GLOB_DAT;
inline constexpr std::uint32_t kPointerRelocation = R_AARCH64_ABS64;

// The version of the C library's oldest symbols on this processor.
inline constexpr char kFirstVersionOfLibc[] = "GLIBC_2.17";

}  // namespace leakgate::agent
