// Demangles names of C++ within limits of time and memory. A mangled name can refer to parts of
// itself, so one of 200 bytes may stand for gigabytes of text, or keep the C++ library's demangler
// busy for years before it has printed anything.
//
// Any thread may call it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace leakgate {

// No longer name is returned: the longest in real programs are a tenth of it.
inline constexpr std::size_t kMostDemangledBytes = std::size_t{1} << 16;

// Returns the C++ name of the linker symbol `mangled`; nothing if it is no such symbol, or if its
// name is too long, or takes too long to demangle.
[[nodiscard]] std::optional<std::string> DemangledName(const std::string& mangled);

}  // namespace leakgate
