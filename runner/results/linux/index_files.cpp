#include "runner/results/linux/index_files.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "runner/base/atomic_file.h"
#include "runner/base/regular_file.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostIndexes = 64;

std::int64_t Nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// A runner of root's that has kept the user's HOME must not leave files there which the user cannot
// replace.
bool IsOwnDirectory(const fs::path& path) {
  constexpr mode_t kOthersMayWrite = S_IWGRP | S_IWOTH;
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode) &&
         facts.st_uid == ::geteuid() && (facts.st_mode & kOthersMayWrite) == 0;
}

// Returns an absolute path, or an empty one.
fs::path FromEnvironment(const char* name) {
  const char* const value = std::getenv(name);
  fs::path path = value == nullptr ? "" : value;
  return path.is_absolute() ? path : fs::path();
}

struct CachePlace {
  fs::path base;   // exists, and is the user's
  fs::path below;  // where indexes are, from there
};

// The XDG base directory specification says where, and that only the user may read what is made.
CachePlace FindCache() {
  const fs::path given = FromEnvironment("XDG_CACHE_HOME");
  if (!given.empty()) {
    if (IsOwnDirectory(given)) return {given, "leakgate/baselines"};
    return {given.parent_path(), given.filename() / "leakgate/baselines"};
  }
  return {FromEnvironment("HOME"), ".cache/leakgate/baselines"};
}

bool MakeDirectories(const CachePlace& place) {
  fs::path path = place.base;
  for (const fs::path& part : place.below) {
    path /= part;
    const bool is_there = ::mkdir(path.c_str(), S_IRWXU) == 0 || errno == EEXIST;
    if (!is_there || !IsOwnDirectory(path)) return false;
  }
  return true;
}

void RemoveOldest(const fs::path& directory) {
  std::vector<std::pair<fs::file_time_type, fs::path>> indexes;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code unknown;
    if (entry->path().extension() != ".index") continue;
    indexes.emplace_back(entry->last_write_time(unknown), entry->path());
  }
  if (indexes.size() <= kMostIndexes) return;
  std::sort(indexes.begin(), indexes.end());
  indexes.resize(indexes.size() - kMostIndexes);
  for (const auto& [time, path] : indexes) fs::remove(path, error);
}

}  // namespace

std::optional<FileState> StateOf(const fs::path& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return std::nullopt;
  return FileState{.device = facts.st_dev,
                   .inode = facts.st_ino,
                   .size = static_cast<std::uint64_t>(facts.st_size),
                   .modified_ns = Nanoseconds(facts.st_mtim),
                   .changed_ns = Nanoseconds(facts.st_ctim)};
}

bool IsSettled(const FileState& state) {
  using std::chrono::system_clock;
  constexpr std::chrono::nanoseconds kLongEnough = std::chrono::seconds(2);
  const std::chrono::nanoseconds now = system_clock::now().time_since_epoch();
  return std::max(state.changed_ns, state.modified_ns) < (now - kLongEnough).count();
}

fs::path IndexPathOf(const fs::path& report) {
  std::error_code error;
  const fs::path full = fs::weakly_canonical(report, error);
  if (error) return {};
  const CachePlace place = FindCache();
  if (place.base.empty() || !IsOwnDirectory(place.base)) return {};
  const XXH128_hash_t hash = XXH3_128bits(full.c_str(), full.native().size());
  return place.base / place.below /
         fmt::format("{:016x}{:016x}.index", std::uint64_t{hash.high64}, std::uint64_t{hash.low64});
}

std::optional<BaselineIndex> OpenIndex(const fs::path& path) {
  if (path.empty() || !IsOwnDirectory(path.parent_path())) return std::nullopt;
  auto opened = OpenRegularFile(path);
  struct stat facts {};
  if (!opened || ::fstat(opened->get(), &facts) != 0) return std::nullopt;
  if (facts.st_uid != ::geteuid()) return std::nullopt;
  const auto file = std::make_shared<const UniqueFd>(*std::move(opened));
  return BaselineIndex::Open([file](std::uint64_t offset, char* to, std::size_t size) {
    while (size != 0) {
      const ssize_t count = ::pread(file->get(), to, size, static_cast<off_t>(offset));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return false;
      to += count;
      size -= static_cast<std::size_t>(count);
      offset += static_cast<std::uint64_t>(count);
    }
    return true;
  });
}

void KeepIndex(const fs::path& path, const std::string& text) {
  if (path.empty() || !MakeDirectories(FindCache())) return;
  Expected<AtomicFile> file = AtomicFile::Create(path, AtomicFile::Content::kSnapshot);
  if (!file) return;
  file->out() << text;
  if (file->Commit()) RemoveOldest(path.parent_path());
}

void RenewIndex(const fs::path& path, const IndexedReport& report) {
  constexpr std::uint64_t kMostBytes = 1 << 28;
  auto index = ReadRegularFile(path, kMostBytes);
  if (!index) return;
  const std::string renewed = WithReport(*std::move(index), report);
  if (!renewed.empty()) KeepIndex(path, renewed);
}

}  // namespace leakgate
