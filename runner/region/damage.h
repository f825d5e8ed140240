#pragma once

#include <string>

namespace leakgate {

// Says that a region is damaged (RegionReader::IsWhole is false), and what to do.
[[nodiscard]] std::string DamageText();

}  // namespace leakgate
