#include "runner/base/user_cache.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <system_error>
#include <vector>

namespace leakgate {
namespace {

namespace fs = std::filesystem;

// Returns an absolute path, or an empty one.
fs::path PathInVariable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr && *value == '/' ? fs::path(value) : fs::path();
}

bool AreOfUserAlone(const struct stat& facts) {
  return facts.st_uid == ::geteuid() && (facts.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// A runner of root's that has kept the user's HOME must not make folders there which the user
// cannot write to. In /tmp, nobody but the user can remove or rename what the user has made.
bool MayMakeFoldersIn(const fs::path& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode)) return false;
  return AreOfUserAlone(facts) || (facts.st_mode & S_ISVTX) != 0;
}

}  // namespace

fs::path UserCacheFolder() {
  const fs::path cache = PathInVariable("XDG_CACHE_HOME");
  if (!cache.empty()) return cache / "leakgate";
  const fs::path home = PathInVariable("HOME");
  return home.empty() ? home : home / ".cache" / "leakgate";
}

bool IsOfUserAlone(const UniqueFd& file) {
  struct stat facts {};
  return ::fstat(file.get(), &facts) == 0 && AreOfUserAlone(facts);
}

bool IsFolderOfUserAlone(const fs::path& path) {
  struct stat facts {};
  return ::lstat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode) && AreOfUserAlone(facts);
}

bool MakeCacheFolder(const fs::path& folder) {
  constexpr mode_t kUserAlone = 0700;
  constexpr std::size_t kMostNew = 3;
  std::vector<fs::path> missing;
  std::error_code error;
  fs::path there = folder;
  for (; !fs::exists(there, error); there = there.parent_path()) {
    if (missing.size() == kMostNew || !there.has_relative_path()) return false;
    missing.push_back(there);
  }
  if (!missing.empty() && !MayMakeFoldersIn(there)) return false;
  for (auto path = missing.rbegin(); path != missing.rend(); ++path) {
    ::mkdir(path->c_str(), kUserAlone);  // another process may have made it meanwhile
    if (!IsFolderOfUserAlone(*path)) return false;
  }
  return IsFolderOfUserAlone(folder);
}

void LimitCacheFolder(const fs::path& folder, const CacheLimit& limit) {
  struct KeptFile {
    fs::file_time_type written;
    std::uint64_t bytes;
    fs::path path;
  };
  std::vector<KeptFile> files;
  std::uint64_t bytes = 0;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code gone;
    struct stat facts {};
    const fs::file_time_type written = entry->last_write_time(gone);
    if (gone || ::lstat(entry->path().c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) continue;
    files.push_back({written, static_cast<std::uint64_t>(facts.st_size), entry->path()});
    bytes += files.back().bytes;
  }
  if (files.size() <= limit.files && bytes <= limit.bytes) return;
  std::sort(files.begin(), files.end(),
            [](const KeptFile& a, const KeptFile& b) { return a.written < b.written; });
  std::size_t left = files.size();
  for (const KeptFile& file : files) {
    if (left <= limit.files - limit.files / 4 && bytes <= limit.bytes - limit.bytes / 4) return;
    fs::remove(file.path, error);
    bytes -= file.bytes;
    --left;
  }
}

}  // namespace leakgate
