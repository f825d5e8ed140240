#include "runner/base/atomic_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <random>
#include <streambuf>
#include <utility>

#include "runner/base/nt/file_place.h"
#include "runner/base/nt/win32.h"
#include "runner/base/path_text.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRemedy =
    "make its directory writable with room for it, or name another file";

std::string TemporaryName() {
  std::random_device random;
  return fmt::format(".leakgate-{:08x}{:08x}.tmp", random(), random());
}

UniqueFd OpenFolder(const std::wstring& path) {
  return OwnHandle(CreateFileW(path.c_str(), FILE_LIST_DIRECTORY,
                               FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                               OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr));
}

// Fails if the file exists, but with CREATE_ALWAYS or OPEN_ALWAYS.
UniqueFd OpenToWrite(const std::wstring& path, DWORD rights, DWORD disposition) {
  return OwnHandle(CreateFileW(path.c_str(), rights,
                               FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                               disposition, FILE_ATTRIBUTE_NORMAL, nullptr));
}

// Whether the path means no file of a folder: a pipe, a device such as NUL or CON.
bool IsDirectName(const std::wstring& full) { return full.starts_with(L"\\\\.\\"); }

}  // namespace

class AtomicFile::Buffer : public std::streambuf {
 public:
  explicit Buffer(std::FILE* file) : file_(file) {
    if (file_ == nullptr) error_ = errno;
  }
  ~Buffer() override { Close(); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  // The errno value of the first error; 0: there was none.
  [[nodiscard]] int error() const { return error_; }

  void Flush() {
    if (file_ != nullptr && std::fflush(file_) != 0) Fail();
  }
  void Close() {
    if (file_ != nullptr && std::fclose(std::exchange(file_, nullptr)) != 0) Fail();
  }

 protected:
  int_type overflow(int_type byte) override {
    if (traits_type::eq_int_type(byte, traits_type::eof())) return traits_type::not_eof(byte);
    const char one = traits_type::to_char_type(byte);
    return xsputn(&one, 1) == 1 ? byte : traits_type::eof();
  }
  std::streamsize xsputn(const char* bytes, std::streamsize count) override {
    if (file_ == nullptr || error_ != 0) return 0;
    errno = 0;
    const std::size_t written = std::fwrite(bytes, 1, static_cast<std::size_t>(count), file_);
    if (written != static_cast<std::size_t>(count)) Fail();
    return static_cast<std::streamsize>(written);
  }

 private:
  void Fail() {
    if (error_ == 0) error_ = errno == 0 ? EIO : errno;
  }

  std::FILE* file_;
  int error_ = 0;
};

AtomicFile::AtomicFile() : place_(std::make_unique<FilePlace>()) {}
AtomicFile::AtomicFile(AtomicFile&&) noexcept = default;

Unexpected AtomicFile::CannotWrite(const std::string& cause, std::string_view remedy) const {
  const char* const content = content_ == Content::kReport     ? "report"
                              : content_ == Content::kSnapshot ? "snapshot"
                                                               : "recording";
  return InconclusiveError(
      fmt::format("cannot write {} {}: {}; {}", content, PathText(path_), cause, remedy));
}

Expected<AtomicFile> AtomicFile::Locate(const fs::path& path, Content content) {
  AtomicFile file;
  file.content_ = content;
  file.path_ = path;
  FilePlace& place = *file.place_;
  wchar_t* name = nullptr;
  std::wstring full(32'768, L'\0');
  full.resize(GetFullPathNameW(path.c_str(), static_cast<DWORD>(full.size()), full.data(), &name));
  if (full.empty()) return file.CannotWrite(WindowsErrorText(), kRemedy);
  place.is_direct = IsDirectName(full);
  const std::size_t slash = full.find_last_of(L'\\');
  place.folder = full.substr(0, slash == std::wstring::npos ? 0 : slash);
  place.name = place.is_direct ? full : full.substr(slash + 1);
  if (place.is_direct) return file;
  if (place.name.empty()) return file.CannotWrite("it names a directory", "name a file");
  place.directory = OpenFolder(place.folder + L'\\');
  if (!place.directory) return file.CannotWrite(WindowsErrorText(), "create its directory first");
  const DWORD attributes = GetFileAttributesW(full.c_str());
  place.is_occupied = attributes != INVALID_FILE_ATTRIBUTES;
  if (place.is_occupied && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0) {
    return file.CannotWrite("it is a directory", "name another file");
  }
  place.is_link = place.is_occupied && (attributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0;
  return file;
}

Expected<AtomicFile> AtomicFile::Create(const fs::path& path, Content content) {
  Expected<AtomicFile> file = Locate(path, content);
  if (!file) return file;
  if (!file->place_->is_direct) file->temporary_ = TemporaryName();
  LEAKGATE_TRY(file->Open());
  return file;
}

Expected<AtomicFile> AtomicFile::CreateIn(const UniqueFd& directory, const std::string& name) {
  const fs::path folder = PathOfHandle(HandleOf(directory));
  return Create(folder / WideOf(name), Content::kSnapshot);
}

Expected<AtomicFile> AtomicFile::Append(const fs::path& path) {
  Expected<AtomicFile> file = Locate(path, Content::kReport);
  if (!file) return file;
  LEAKGATE_TRY(file->Open());
  return file;
}

Expected<AtomicFile> AtomicFile::LocateGrowing(const fs::path& path, Existing existing) {
  Expected<AtomicFile> file = Locate(path, Content::kRecording);
  if (!file) return UsageError(file.error().message);
  if (!file->place_->is_occupied || existing == Existing::kReplaced) return file;
  return UsageError(fmt::format(
      "{}: is there already; name another file, or replace it with --force", PathText(path)));
}

Expected<void> AtomicFile::CheckGrowing(const fs::path& path, Existing existing) {
  LEAKGATE_TRY_ASSIGN(AtomicFile file, LocateGrowing(path, existing));
  file.temporary_ = TemporaryName();
  return file.Open();
}

Expected<AtomicFile> AtomicFile::CreateGrowing(const fs::path& path, Existing existing) {
  Expected<AtomicFile> file = LocateGrowing(path, existing);
  if (!file) return file;
  UniqueFd created = OpenToWrite(file->place_->path(), GENERIC_WRITE, CREATE_ALWAYS);
  if (!created) return file->CannotWrite(WindowsErrorText(), kRemedy);
  file->buffer_ = std::make_unique<Buffer>(OpenStdioFile(std::move(created), "wb"));
  file->out_ = std::make_unique<std::ostream>(file->buffer_.get());
  return file;
}

Expected<void> AtomicFile::Flush() {
  buffer_->Flush();
  if (const int error = buffer_->error(); error != 0) {
    return CannotWrite(ErrnoText(error), kRemedy);
  }
  return {};
}

Expected<void> AtomicFile::CheckPlace(const fs::path& path) {
  LEAKGATE_TRY_ASSIGN(AtomicFile file, Locate(path, Content::kReport));
  if (file.place_->is_direct) return {};
  file.temporary_ = TemporaryName();
  return file.Open();
}

Expected<void> AtomicFile::Open() {
  UniqueFd opened = is_direct() ? OpenToWrite(place_->path(), FILE_APPEND_DATA | SYNCHRONIZE,
                                              place_->is_direct ? OPEN_EXISTING : OPEN_ALWAYS)
                                : OpenTemporary();
  if (!opened) return CannotWrite(WindowsErrorText(), kRemedy);
  buffer_ = std::make_unique<Buffer>(OpenStdioFile(std::move(opened), is_direct() ? "ab" : "wb"));
  if (const int error = buffer_->error(); error != 0) {
    return CannotWrite(ErrnoText(error), kRemedy);
  }
  out_ = std::make_unique<std::ostream>(buffer_.get());
  return {};
}

// From now on, Ctrl-C also removes `temporary_`.
void AtomicFile::RegisterTemporary() {
  partial_ = std::make_unique<PartialFile>(place_->directory.get(), temporary_);
}

UniqueFd AtomicFile::OpenTemporary() {
  is_named_ = true;
  RegisterTemporary();
  return OpenToWrite(place_->folder + L'\\' + WideOf(temporary_), GENERIC_WRITE, CREATE_NEW);
}

AtomicFile::~AtomicFile() {
  if (!is_named_ || temporary_.empty() || !out_) return;  // committed, or moved from
  buffer_->Close();
  DeleteFileW((place_->folder + L'\\' + WideOf(temporary_)).c_str());
}

Expected<void> AtomicFile::Commit() {
  buffer_->Flush();
  buffer_->Close();
  if (const int error = buffer_->error(); error != 0) {
    return CannotWrite(ErrnoText(error), kRemedy);
  }
  if (is_direct()) return {};
  if (const std::error_code failure = MoveIntoPlace(); failure) {
    return CannotWrite(failure.message(), kRemedy);
  }
  temporary_.clear();
  partial_.reset();
  return {};
}

// A link stays, and leads to the new file.
std::error_code AtomicFile::MoveIntoPlace() {
  std::wstring target = place_->path();
  if (place_->is_link) {
    const UniqueFd linked = OpenToWrite(target, 0, OPEN_EXISTING);
    if (!linked) return LastWindowsError();
    target = PathOfHandle(HandleOf(linked));
  }
  const std::wstring temporary = place_->folder + L'\\' + WideOf(temporary_);
  if (MoveFileExW(temporary.c_str(), target.c_str(), MOVEFILE_REPLACE_EXISTING)) return {};
  return LastWindowsError();
}

Expected<void> WriteFileAtomically(const fs::path& path, std::string_view text) {
  LEAKGATE_TRY_ASSIGN(AtomicFile file, AtomicFile::Create(path));
  file.out().write(text.data(), static_cast<std::streamsize>(text.size()));
  return file.Commit();
}

void RemoveWrittenFile(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_regular_file(fs::symlink_status(path, ignored))) fs::remove(path, ignored);
}

}  // namespace leakgate
