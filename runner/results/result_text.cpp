#include "runner/results/result_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "runner/archive/zip_archive.h"
#include "runner/base/descriptors.h"
#include "runner/base/file_access.h"
#include "runner/base/file_version.h"
#include "runner/base/path_text.h"
#include "runner/base/regular_file.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

using Archive = std::shared_ptr<ZipArchive>;

Unexpected Unreadable(const fs::path& path, const std::string& cause) {
  return UsageError(fmt::format("{}: cannot be read: {}; name a report, or a directory of reports",
                                PathText(path), cause));
}

Unexpected UnreadableArchive(const fs::path& path, const char* cause) {
  return UsageError(fmt::format(
      "{}: no zip archive that can be read: {}; copy it again, or run again what wrote it",
      PathText(path), cause));
}

// The archive that was opened last is kept, because its members are read one after the other.
struct OpenedArchive {
  std::string identity;  // of the file, by its state
  Archive archive;
};

// The members that have been unpacked, one behind the other, in a file without a name. They are
// read several times, from any place, and would otherwise be unpacked from their beginning each
// time.
struct Unpacked {
  struct Member {
    std::uint64_t begin = 0;
    std::uint64_t size = 0;
  };
  UniqueFd file;
  std::uint64_t size = 0;
  std::map<std::string, Member> members;  // by archive's identity and name
};

// The process has one of each, and reads results on one thread.
OpenedArchive& LastArchive() {
  static OpenedArchive last;
  return last;
}
Unpacked& AllUnpacked() {
  static Unpacked unpacked;
  return unpacked;
}

// The text differs after the archive was replaced.
std::string IdentityOf(const fs::path& path, const FileVersion& version) {
  return fmt::format("{}/{}/{}/{}/{}", version.device, version.inode, version.size,
                     version.modified_ns, PathText(path));
}
std::string IdentityOf(const fs::path& path) {
  const std::optional<FileVersion> version = VersionOf(path);
  return version ? IdentityOf(path, *version) : PathText(path);
}

Expected<Archive> OpenArchive(const fs::path& path) {
  auto file = OpenRegularFile(path);
  if (!file) return UnreadableArchive(path, file.error().message().c_str());
  const std::optional<FileVersion> version = VersionOf(*file);
  if (!version) return UnreadableArchive(path, ErrnoText().c_str());
  OpenedArchive& last = LastArchive();
  std::string identity = IdentityOf(path, *version);
  if (last.archive && last.identity == identity) return last.archive;
  Expected<Archive> archive = ZipArchive::Open(path, *std::move(file), version->size);
  if (archive) last = {std::move(identity), *archive};
  return archive;
}

// Returns the archive that `path` leads into, or an empty path.
fs::path ArchiveOf(const std::string& path) {
  for (std::size_t end = path.find(".zip/"); end < kMostNameBytes; end = path.find(".zip/", end)) {
    end += std::string_view(".zip").size();
    if (const fs::path archive = PathOf(path.substr(0, end)); IsArchive(archive)) return archive;
  }
  return {};
}

Unexpected CannotUnpack(const fs::path& path, int error) {
  return UsageError(fmt::format(
      "{}: cannot be unpacked: {}; make room in the directory for temporary files, or name "
      "another by TMPDIR",
      PathText(path), std::generic_category().message(error)));
}

// Appends all of the report `name` to what was unpacked before.
Expected<Unpacked::Member> Unpack(const fs::path& path, const std::string& name) {
  LEAKGATE_TRY_ASSIGN(const Archive archive, OpenArchive(path));
  Unpacked& all = AllUnpacked();
  if (!all.file) all.file = OpenTemporaryFile();
  if (!all.file) return CannotUnpack(InArchive(path, name), errno);
  const std::uint64_t begin = all.size;
  std::vector<char> bytes(1 << 18);
  while (true) {
    LEAKGATE_TRY_ASSIGN(const std::size_t count,
                        archive->Read(name, all.size - begin, bytes.data(), bytes.size()));
    if (count == 0) return Unpacked::Member{begin, all.size - begin};
    if (all.size + count > kMostUnpackedBytes) {
      return TooMuchInArchive(InArchive(path, name),
                              fmt::format("is one of several that hold more than {} MiB together",
                                          kMostUnpackedBytes >> 20));
    }
    if (!WriteAt(all.file, {bytes.data(), count}, all.size)) {
      return CannotUnpack(InArchive(path, name), errno);
    }
    all.size += count;
  }
}

}  // namespace

bool IsArchive(const fs::path& path) {
  std::error_code unknown;
  return path.extension() == ".zip" && fs::is_regular_file(path, unknown);
}

Expected<std::vector<fs::path>> JsonFilesIn(const fs::path& path) {
  LEAKGATE_TRY_ASSIGN(const Archive archive, OpenArchive(path));
  std::vector<fs::path> files;
  for (const auto& [name, report] : archive->reports()) files.push_back(InArchive(path, name));
  std::sort(files.begin(), files.end());
  return files;
}

Expected<ResultText> ResultText::Open(const fs::path& path, std::uint64_t begin) {
  const fs::path archive = ArchiveOf(PathText(path));
  if (archive.empty()) return OpenFile(path, begin);
  std::map<std::string, Unpacked::Member>& known = AllUnpacked().members;
  const std::string name = PathText(path).substr(PathText(archive).size() + 1);
  const std::string key = IdentityOf(archive) + '/' + name;
  auto member = known.find(key);
  if (member == known.end()) {
    LEAKGATE_TRY_ASSIGN(const Unpacked::Member unpacked, Unpack(archive, name));
    member = known.emplace(key, unpacked).first;
  }
  const std::uint64_t end = member->second.begin + member->second.size;
  return ResultText([at = std::min(member->second.begin + begin, end), end](
                        char* to, std::size_t size) mutable -> std::size_t {
    const std::size_t count =
        ReadAt(AllUnpacked().file, to, std::min<std::uint64_t>(size, end - at), at);
    at += count;
    return count;
  });
}

Expected<ResultText> ResultText::Glance(const fs::path& path) {
  const fs::path archive = ArchiveOf(PathText(path));
  if (archive.empty()) return OpenFile(path, 0);
  return OpenMember(archive, PathText(path).substr(PathText(archive).size() + 1));
}

Expected<ResultText> ResultText::OpenFile(const fs::path& path, std::uint64_t begin) {
  auto opened = OpenRegularFile(path);
  if (!opened) return Unreadable(path, opened.error().message());
  const auto file = std::make_shared<const UniqueFd>(*std::move(opened));
  return ResultText([file, at = begin](char* to, std::size_t size) mutable {
    const std::size_t count = ReadAt(*file, to, size, at);
    at += count;
    return count;
  });
}

Expected<ResultText> ResultText::OpenMember(const fs::path& path, const std::string& name) {
  const Expected<Archive> archive = OpenArchive(path);
  if (!archive) return Unexpected(archive.error());
  // What is wrong with it is said before anything is read, and by who unpacks it.
  char none = 0;
  LEAKGATE_TRY_ASSIGN([[maybe_unused]] const auto bytes, (*archive)->Read(name, 0, &none, 0));
  return ResultText([archive = *archive, name, at = std::uint64_t{0}, is_over = false](
                        char* to, std::size_t size) mutable -> std::size_t {
    if (is_over) return 0;
    const std::size_t count = archive->Read(name, at, to, size).value_or(0);
    is_over = count == 0;
    at += count;
    return count;
  });
}

}  // namespace leakgate
