#include "runner/merge/result_text.h"

#include <fmt/format.h>
#include <unistd.h>
#include <zip.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <string>
#include <system_error>

#include "runner/util/linux/regular_file.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

using Archive = std::shared_ptr<zip_t>;

Unexpected Unreadable(const fs::path& path, const std::string& cause) {
  return UsageError(fmt::format("{}: cannot be read: {}; name a report, or a directory of reports",
                                path.string(), cause));
}

Unexpected UnreadableArchive(const fs::path& path, const char* cause) {
  return UsageError(fmt::format(
      "{}: no zip archive that can be read: {}; copy it again, or run again what wrote it",
      path.string(), cause));
}

Expected<Archive> OpenArchive(const fs::path& path) {
  auto file = OpenRegularFile(path);
  if (!file) return UnreadableArchive(path, file.error().message().c_str());
  int code = 0;
  constexpr int kNoFlags = 0;
  if (zip_t* const archive = zip_fdopen(file->get(), kNoFlags, &code); archive != nullptr) {
    (void)file->Release();  // it has taken it
    return Archive(archive, zip_discard);
  }
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  const Unexpected told = UnreadableArchive(path, zip_error_strerror(&error));
  zip_error_fini(&error);
  return told;
}

// The archive that `path` leads into; empty: none.
fs::path ArchiveOf(const fs::path& path) {
  for (fs::path outer = path.parent_path(); outer.has_relative_path();
       outer = outer.parent_path()) {
    if (IsArchive(outer)) return outer;
  }
  return {};
}

}  // namespace

bool IsArchive(const fs::path& path) {
  std::error_code unknown;
  return path.extension() == ".zip" && fs::is_regular_file(path, unknown);
}

Expected<std::vector<fs::path>> JsonFilesIn(const fs::path& path) {
  const Expected<Archive> archive = OpenArchive(path);
  if (!archive) return Unexpected(archive.error());
  std::vector<fs::path> files;
  const zip_int64_t count = zip_get_num_entries(archive->get(), 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const char* const name = zip_get_name(archive->get(), static_cast<zip_uint64_t>(i), 0);
    if (name == nullptr) return UnreadableArchive(path, zip_strerror(archive->get()));
    if (fs::path(name).extension() == ".json") files.push_back(path.string() + '/' + name);
  }
  std::sort(files.begin(), files.end());
  return files;
}

Expected<ResultText> ResultText::Open(const fs::path& path, std::uint64_t begin) {
  const fs::path archive = ArchiveOf(path);
  if (archive.empty()) return OpenFile(path, begin);
  return OpenMember(archive, path.string().substr(archive.string().size() + 1), begin);
}

Expected<ResultText> ResultText::OpenFile(const fs::path& path, std::uint64_t begin) {
  auto opened = OpenRegularFile(path);
  if (!opened) return Unreadable(path, opened.error().message());
  const auto file = std::make_shared<const UniqueFd>(*std::move(opened));
  return ResultText([file, at = static_cast<off_t>(begin)](char* to, std::size_t size) mutable {
    std::size_t done = 0;
    while (done < size) {
      const ssize_t count = ::pread(file->get(), to + done, size - done, at);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;
      done += static_cast<std::size_t>(count);
      at += count;
    }
    return done;
  });
}

Expected<ResultText> ResultText::OpenMember(const fs::path& path, const std::string& name,
                                            std::uint64_t begin) {
  const Expected<Archive> archive = OpenArchive(path);
  if (!archive) return Unexpected(archive.error());
  zip_file_t* const opened = zip_fopen(archive->get(), name.c_str(), 0);
  if (opened == nullptr) {
    return Unreadable(path.string() + '/' + name, zip_strerror(archive->get()));
  }
  // It goes before its archive.
  const std::shared_ptr<zip_file_t> member(
      opened, [kept = *archive](zip_file_t* file) { zip_fclose(file); });
  ResultText text([member](char* to, std::size_t size) {
    const zip_int64_t count = zip_fread(member.get(), to, size);
    return count > 0 ? static_cast<std::size_t>(count) : 0;
  });
  // What is compressed can only be read from its beginning.
  std::array<char, 1 << 15> skipped;
  while (begin != 0) {
    const std::size_t count =
        text.Read(skipped.data(), std::min<std::uint64_t>(begin, skipped.size()));
    if (count == 0) break;
    begin -= count;
  }
  return text;
}

}  // namespace leakgate
