// A source file's path, of what debug information has. Pure.
#pragma once

#include <string>

namespace leakgate {

// `file` as seen from `directory`, the compilation's; either may be null. Relative
// where the build has cut off what differs from machine to machine.
[[nodiscard]] std::string SourcePath(const char* directory, const char* file);

}  // namespace leakgate
