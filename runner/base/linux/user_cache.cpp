#include "runner/base/user_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <tuple>
#include <vector>

#include "runner/base/atomic_file.h"
#include "runner/base/linux/file_place.h"
#include "runner/base/regular_file.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

// Returns an absolute path, or an empty one.
fs::path PathInVariable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr && *value == '/' ? fs::path(value) : fs::path();
}

struct KeptFile {
  timespec written;
  std::uint64_t bytes;
  std::string name;
};

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

std::vector<KeptFile> ListFiles(int folder) {
  std::vector<KeptFile> files;
  UniqueFd readable(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::unique_ptr<DIR, CloseDirectory> entries(::fdopendir(readable.get()));
  if (entries == nullptr) return files;
  (void)readable.Release();
  while (const dirent* const entry = ::readdir(entries.get())) {
    struct stat facts {};
    if (::fstatat(folder, entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (!S_ISREG(facts.st_mode)) continue;
    files.push_back({facts.st_mtim, static_cast<std::uint64_t>(facts.st_size), entry->d_name});
  }
  return files;
}

}  // namespace

fs::path UserCacheFolder() {
  const fs::path cache = PathInVariable("XDG_CACHE_HOME");
  if (!cache.empty()) return cache / "leakgate";
  const fs::path home = PathInVariable("HOME");
  return home.empty() ? home : home / ".cache" / "leakgate";
}

CacheFolder CacheFolder::Open(const fs::path& path) {
  return CacheFolder(OpenOwnFolder(path, MissingFolders::kRefused));
}

CacheFolder CacheFolder::Make(const fs::path& path) {
  return CacheFolder(OpenOwnFolder(path, MissingFolders::kMade));
}

UniqueFd CacheFolder::OpenFile(const std::string& name) const {
  if (!folder_) return {};
  auto file = OpenRegularFileIn(folder_, name);
  struct stat facts {};
  const bool is_own = file && ::fstat(file->get(), &facts) == 0 && IsOfUserAlone(facts);
  return is_own ? *std::move(file) : UniqueFd();
}

std::string CacheFolder::Read(const std::string& name, std::uint64_t most_bytes) const {
  const UniqueFd file = OpenFile(name);
  return file ? ReadToEnd(file, most_bytes).value_or(std::string()) : std::string();
}

bool CacheFolder::Write(const std::string& name, std::string_view bytes) const {
  if (!folder_) return false;
  Expected<AtomicFile> file = AtomicFile::CreateIn(folder_, name);
  if (!file) return false;
  file->out() << bytes;
  return file->Commit().has_value();
}

void CacheFolder::Limit(const CacheLimit& limit) const {
  if (!folder_) return;
  std::vector<KeptFile> files = ListFiles(folder_.get());
  std::uint64_t bytes = 0;
  for (const KeptFile& file : files) bytes += file.bytes;
  if (files.size() <= limit.files && bytes <= limit.bytes) return;
  std::sort(files.begin(), files.end(), [](const KeptFile& a, const KeptFile& b) {
    return std::tie(a.written.tv_sec, a.written.tv_nsec) <
           std::tie(b.written.tv_sec, b.written.tv_nsec);
  });
  std::size_t left = files.size();
  for (const KeptFile& file : files) {
    if (left <= limit.files - limit.files / 4 && bytes <= limit.bytes - limit.bytes / 4) return;
    ::unlinkat(folder_.get(), file.name.c_str(), 0);
    bytes -= file.bytes;
    --left;
  }
}

}  // namespace leakgate
