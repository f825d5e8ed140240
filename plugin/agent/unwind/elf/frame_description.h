// Finds and reads the .eh_frame entry (FDE and its CIE) that covers an address,
// through the sorted table of .eh_frame_hdr. It reads only mapped, read-only parts of a loaded
// module, and never allocates or locks.
//
// Formats: Linux Standard Base 5, "Exception Frames"; DWARF 5, section 6.4.
#pragma once

#include <cstdint>

namespace leakgate::agent {

// Where a module's frame descriptions are. Nothing is read outside of [begin, end), whatever a
// damaged file contains: the whole range is mapped.
struct FrameSection {
  const std::uint8_t* header = nullptr;  // .eh_frame_hdr; nullptr if the module has none
  const std::uint8_t* begin = nullptr;
  const std::uint8_t* end = nullptr;

  // Returns whether the bytes at `distance` from `from` may be read.
  bool Has(const std::uint8_t* from, std::int64_t distance) const {
    return distance >= begin - from && distance < end - from;
  }
};

struct FrameDescription {
  std::uint64_t pc_begin = 0;
  std::uint64_t pc_end = 0;
  std::uint64_t code_alignment = 1;
  std::int64_t data_alignment = 1;
  std::uint64_t return_address_register = 0;
  std::uint8_t pointer_encoding = 0;
  bool is_signal_frame = false;
  bool has_augmentation_length = false;
  const std::uint8_t* initial_begin = nullptr;  // the CIE's instructions
  const std::uint8_t* initial_end = nullptr;
  const std::uint8_t* program_begin = nullptr;  // the FDE's
  const std::uint8_t* program_end = nullptr;
};

enum class DescriptionStatus { kFound, kNone, kMalformed };

[[nodiscard]] DescriptionStatus FindFrameDescription(const FrameSection& section, std::uint64_t pc,
                                                     FrameDescription& found);

}  // namespace leakgate::agent
