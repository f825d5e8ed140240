#include "runner/report/formats/source_file.h"

#include <filesystem>
#include <fstream>
#include <system_error>

namespace leakgate {

std::optional<std::string> ReadSourceFile(const std::string& file) {
  constexpr std::uintmax_t kMostBytes = 4UL * 1024 * 1024;
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(file, unknown)) return std::nullopt;
  const std::uintmax_t size = std::filesystem::file_size(file, unknown);
  if (unknown || size > kMostBytes) return std::nullopt;
  std::string text(static_cast<std::size_t>(size), '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!stream) return std::nullopt;
  return text;
}

}  // namespace leakgate
