// What the program under test tells the fake kernel of its heap: it appends a record for each event
// to the file that LEAKGATE_FAKE_TRACE names. Times are of the performance counter, as in real
// sessions. Both are of the same build.
#pragma once

#include <cstdint>

namespace leakgate::test {

constexpr char kToldEventsVariable[] = "LEAKGATE_FAKE_TRACE";

struct ToldEvent {
  static constexpr std::uint32_t kMostFrames = 32;

  std::uint32_t opcode = 0;
  std::uint32_t thread = 0;
  std::uint64_t time = 0;
  std::uint64_t heap = 0;
  std::uint64_t address = 0;
  std::uint64_t old_address = 0;
  std::uint64_t size_bytes = 0;
  std::uint32_t frame_count = 0;
  std::uint32_t reserved = 0;
  std::uint64_t frames[kMostFrames] = {};
};

}  // namespace leakgate::test
