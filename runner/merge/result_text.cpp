#include "runner/merge/result_text.h"

#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <string>
#include <system_error>

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
  int code = 0;
  if (zip_t* const archive = zip_open(path.c_str(), ZIP_RDONLY, &code); archive != nullptr) {
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
  std::error_code unknown;
  const fs::file_status status = fs::status(path, unknown);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    return UsageError(fmt::format(
        "{}: not a regular file, and results are read twice; write them to a file first",
        path.string()));
  }
  std::FILE* const opened = std::fopen(path.c_str(), "rb");
  if (opened == nullptr) return Unreadable(path, std::generic_category().message(errno));
  const std::shared_ptr<std::FILE> file(opened, std::fclose);
  std::setvbuf(opened, nullptr, _IONBF, 0);  // who reads it has a buffer
  if (fseeko(opened, static_cast<off_t>(begin), SEEK_SET) != 0) {
    return Unreadable(path, std::generic_category().message(errno));
  }
  return ResultText(
      [file](char* to, std::size_t size) { return std::fread(to, 1, size, file.get()); });
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
