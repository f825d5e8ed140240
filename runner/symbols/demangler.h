// Spells names as C++ does, at a limited price. A mangled name refers to what it has named before,
// so one of 200 bytes may stand for gigabytes of text, or keep the C++ library's demangler busy for
// years before it has printed anything.
//
// Any thread may call it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace leakgate {

// No name is spelt longer: the longest in real programs are a tenth of it.
inline constexpr std::size_t kMostDemangledBytes = std::size_t{1} << 16;

// Returns what the linker symbol `mangled` is called in C++; nothing if it is no such symbol, or if
// its name is too long, or takes too long to find out.
[[nodiscard]] std::optional<std::string> DemangledName(const std::string& mangled);

}  // namespace leakgate
