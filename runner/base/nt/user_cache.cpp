#include "runner/base/user_cache.h"

#include <algorithm>
#include <vector>

#include "runner/base/atomic_file.h"
#include "runner/base/nt/win32.h"
#include "runner/base/regular_file.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

UniqueFd OpenFolder(const fs::path& path) {
  UniqueFd folder = OwnHandle(CreateFileW(
      path.c_str(), FILE_LIST_DIRECTORY, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
      nullptr, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT, nullptr));
  BY_HANDLE_FILE_INFORMATION facts{};
  const bool is_folder = folder && GetFileInformationByHandle(HandleOf(folder), &facts) &&
                         (facts.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0 &&
                         (facts.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) == 0;
  return is_folder ? std::move(folder) : UniqueFd();
}

struct KeptFile {
  fs::file_time_type written;
  std::uint64_t bytes;
  fs::path path;
};

}  // namespace

// Windows gives each user a folder for what stays on this machine, which other users cannot enter.
fs::path UserCacheFolder() {
  const fs::path local = EnvironmentVariable(L"LOCALAPPDATA");
  return local.is_absolute() ? local / "leakgate" / "cache" : fs::path();
}

CacheFolder CacheFolder::Open(const fs::path& path) { return CacheFolder(OpenFolder(path)); }

CacheFolder CacheFolder::Make(const fs::path& path) {
  std::error_code ignored;
  if (!path.empty()) fs::create_directories(path, ignored);
  return Open(path);
}

UniqueFd CacheFolder::OpenFile(const std::string& name) const {
  if (!folder_) return {};
  auto file = OpenRegularFileIn(folder_, name);
  return file ? *std::move(file) : UniqueFd();
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
  std::vector<KeptFile> files;
  std::uint64_t bytes = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(PathOfHandle(HandleOf(folder_)), error)) {
    if (!entry.is_regular_file(error)) continue;
    files.push_back({entry.last_write_time(error), entry.file_size(error), entry.path()});
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
