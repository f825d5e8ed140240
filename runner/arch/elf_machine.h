// What ELF files say differently for each processor.
#pragma once

#include <elf.h>

#include <cstdint>
#include <string_view>

namespace leakgate {

// The name of this processor, for messages.
[[nodiscard]] std::string_view ProcessorName();

// Whether a file whose header has `machine` (e_machine) and `file_class` is for this processor.
[[nodiscard]] bool IsOfThisProcessor(std::uint16_t machine, std::uint8_t file_class);

// Whether a relocation of `type` fills a slot with a function's address, which calls go through.
[[nodiscard]] bool FillsFunctionSlot(std::uint32_t type);

}  // namespace leakgate
