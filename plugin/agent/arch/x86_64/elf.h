// What differs between processors in ELF files (System V ABI, AMD64 supplement, section 4.4).
#pragma once

#include <elf.h>

#include <cstdint>

namespace leakgate::agent {

inline constexpr std::uint16_t kElfMachine = EM_X86_64;

// Relocations that fill a slot with a function's address: one that calls go through, one that code
// reads, and a pointer among data.
inline constexpr std::uint32_t kCallSlotRelocation = R_X86_64_JUMP_SLOT;
inline constexpr std::uint32_t kAddressSlotRelocation = R_X86_64_GLOB_DAT;
inline constexpr std::uint32_t kPointerRelocation = R_X86_64_64;

// The version of the C library's oldest symbols on this processor.
inline constexpr char kFirstVersionOfLibc[] = "GLIBC_2.2.5";

}  // namespace leakgate::agent
