// What the agent notes on Windows of each process that the program has started, as long as the
// program's handle keeps that known: once it has ended and nobody has a handle, the system cannot
// tell the runner any more what it was. The program gets its handle only after the note is there.
//
// The notes are behind the region's header. The oldest is overwritten.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "common/region_layout.h"

namespace leakgate {

struct NtChildNote {
  static constexpr std::uint32_t kLetters = 1004;
  static constexpr std::uint32_t kUnknown = 0xFFFF'FFFF;

  // Counts the notes, from 1; 0 while this one is written. Release, and acquire.
  std::atomic<std::uint32_t> number;
  std::int32_t pid;
  std::uint64_t began;  // as GetProcessTimes has it
  // When the function that started it was called, and when it returned, as windows have their
  // times.
  std::uint64_t called_ns;
  std::uint64_t returned_ns;
  std::uint32_t image_length;
  std::uint32_t command_length;  // kUnknown if there was no room for it
  char16_t text[kLetters];       // the path of its file, then its command line
};
static_assert(sizeof(NtChildNote) == 2048);

struct NtChildNotes {
  static constexpr std::uint32_t kMost = 30;

  std::atomic<std::uint32_t> count;  // of all that were ever begun; relaxed
  std::uint32_t reserved;
  NtChildNote notes[kMost];
};
inline constexpr std::uint64_t kNtChildNotesOffset = 2048;
static_assert(sizeof(RegionHeader) <= kNtChildNotesOffset);
static_assert(kNtChildNotesOffset + sizeof(NtChildNotes) <= region_offset::kMailbox);

}  // namespace leakgate
