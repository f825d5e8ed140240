// Build-ids as text, and what tells a file from its debug information. Pure.
#pragma once

#include <fmt/format.h>
#include <libelf.h>

#include <string>

#include "common/region_layout.h"

namespace leakgate {

inline std::string HexText(const unsigned char* bytes, std::ptrdiff_t count) {
  std::string text;
  for (std::ptrdiff_t i = 0; i < count; ++i) text += fmt::format("{:02x}", bytes[i]);
  return text;
}

// The agent keeps the beginning of a build-id that is too long for its record.
inline std::string CutAsRecorded(const std::string& build_id) {
  return build_id.substr(0, 2 * sizeof(ModuleRecord::build_id));
}

// False of a file that has debug information alone.
[[nodiscard]] bool HasCode(Elf* elf);

}  // namespace leakgate
