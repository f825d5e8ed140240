#include "runner/results/database_place.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <string_view>

#include "runner/base/linux/file_place.h"

namespace leakgate {
Unexpected Unusable(const std::filesystem::path& path, std::string_view cause) {
  return UsageError(
      fmt::format("{}: {}; name a history of leakgate's, or a file that there is not yet",
                  path.string(), cause));
}

namespace {

// SQLite writes pages into them, and takes pages from them.
Expected<void> CheckJournals(const FilePlace& place, const std::filesystem::path& path) {
  for (const std::string_view suffix : {"-journal", "-wal", "-shm"}) {
    if (!place.IsSiblingPlanted(suffix)) continue;
    return UsageError(
        fmt::format("{}: the file beside it that ends in {} is another user's, in a directory that "
                    "all may write; keep the history elsewhere",
                    path.string(), suffix));
  }
  return {};
}

}  // namespace

Expected<std::filesystem::path> PlaceOf(const std::filesystem::path& path, DatabaseUse use) {
  const bool is_read = use == DatabaseUse::kRead;
  const auto place =
      FilePlace::Find(path, is_read ? FilePlace::Use::kRead : FilePlace::Use::kWrite);
  if (!place) {
    return UsageError(
        fmt::format("{}: {}; {}", path.string(), place.error().cause, place.error().remedy));
  }
  if (place->occupant() && !S_ISREG(place->occupant()->st_mode)) {
    return Unusable(path, "not a regular file");
  }
  LEAKGATE_TRY(CheckJournals(*place, path));
  if (is_read && !place->occupant()) {
    return UsageError(
        fmt::format("{}: there is no such history; begin one: leakgate history add {} RESULT",
                    path.string(), path.string()));
  }
  if (!is_read && !place->occupant()) {
    constexpr mode_t kAsUmaskLets = 0666;
    const auto made = place->OpenToAppend(kAsUmaskLets);
    if (!made) return Unusable(path, made.error().cause);
  }
  const std::filesystem::path canonical = place->CanonicalPath();
  if (canonical.empty())
    return Unusable(path,
                    "its directory cannot be named: the path is too long, or /proc is not mounted");
  return canonical;
}

}  // namespace leakgate
