#include "runner/results/database_place.h"

#include <fmt/format.h>

#include "runner/base/nt/win32.h"
#include "runner/base/path_text.h"

namespace leakgate {
namespace fs = std::filesystem;

Unexpected Unusable(const fs::path& path, std::string_view cause) {
  return UsageError(
      fmt::format("{}: {}; name a history of leakgate's, or a file that there is not yet",
                  PathText(path), cause));
}

Expected<fs::path> PlaceOf(const fs::path& path, DatabaseUse use) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    return Unusable(path, "not a regular file");
  }
  if (use == DatabaseUse::kRead && !fs::exists(status)) {
    return UsageError(
        fmt::format("{}: there is no such history; begin one: leakgate history add {} RESULT",
                    PathText(path), PathText(path)));
  }
  if (use == DatabaseUse::kWrite && !fs::exists(status)) {
    const UniqueFd made =
        OwnHandle(CreateFileW(path.c_str(), GENERIC_WRITE, FILE_SHARE_READ, nullptr, OPEN_ALWAYS,
                              FILE_ATTRIBUTE_NORMAL, nullptr));
    if (!made) return Unusable(path, WindowsErrorText());
  }
  const fs::path whole = fs::weakly_canonical(path, error);
  if (error) return Unusable(path, error.message());
  return whole;
}

}  // namespace leakgate
