// What tells a file from a later one at the same path, where it has no build-id.
#pragma once

#include <cstdint>
#include <string>

namespace leakgate {

struct FileState {
  std::uint64_t bytes = 0;        // 0: there is none
  std::uint64_t modified_ns = 0;  // since 1970

  friend bool operator==(const FileState&, const FileState&) = default;
};

[[nodiscard]] FileState StateOfFile(const std::string& path);

}  // namespace leakgate
