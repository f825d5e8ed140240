// Compression as gzip does it, without a time or a name: the same text gives the same bytes.
#pragma once

#include <string>

namespace leakgate {

// Throws std::bad_alloc if there is no memory; nothing else can fail.
[[nodiscard]] std::string Gzip(const std::string& text);

}  // namespace leakgate
