#include "runner/report/formats/source_file.h"

#include "runner/util/linux/regular_file.h"

namespace leakgate {

std::optional<std::string> ReadSourceFile(const std::string& file) {
  constexpr std::uint64_t kMostBytes = 4UL * 1024 * 1024;
  auto text = ReadRegularFile(file, kMostBytes);
  if (!text) return std::nullopt;
  return *std::move(text);
}

}  // namespace leakgate
