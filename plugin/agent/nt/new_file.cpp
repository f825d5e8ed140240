#include "plugin/agent/nt/new_file.h"

#include <windows.h>
#include <winternl.h>

#include <cstring>

#include "plugin/agent/nt/last_error.h"
#include "plugin/agent/nt/monotonic_time.h"
#include "plugin/agent/nt/ntdll.h"
#include "plugin/agent/nt/syscall.h"

namespace leakgate::agent {
namespace {

// Values of NTSTATUS, by the names that WDK gives them.
constexpr unsigned kNameInvalid = 0xC000'0033;
constexpr unsigned kNameNotFound = 0xC000'0034;
constexpr unsigned kPathNotFound = 0xC000'003A;
constexpr unsigned kPathInvalid = 0xC000'0039;
constexpr unsigned kAccessDenied = 0xC000'0022;
constexpr unsigned kSharingViolation = 0xC000'0043;
constexpr unsigned kDiskFull = 0xC000'007F;

constexpr int kRename = 10;   // FileRenameInformation
constexpr int kRemoval = 13;  // FileDispositionInformation

// A path as the system has it, "\??\C:\folder\name".
class SystemPath {
 public:
  explicit SystemPath(const wchar_t* path)
      : is_known_(g_ntdll.find_system_path(path, &text_, nullptr, nullptr) != 0) {}
  ~SystemPath() {
    if (is_known_) g_ntdll.free_text(&text_);
  }
  SystemPath(const SystemPath&) = delete;
  SystemPath& operator=(const SystemPath&) = delete;

  bool is_known() const { return is_known_; }
  UNICODE_STRING* get() { return &text_; }

 private:
  UNICODE_STRING text_{};
  const bool is_known_;
};

// FILE_RENAME_INFORMATION, with room for the name.
struct Renaming {
  unsigned char replaces;
  void* folder;
  unsigned long name_bytes;
  wchar_t name[2048];
};

}  // namespace

// The last letters are those of another name: ".leakgate-0123456789abcdef.tmp".
bool NewFile::SplitPath(const char* path) {
  const LastErrorKeeper keeper;
  if (path == nullptr || *path == '\0') return false;
  if (::MultiByteToWideChar(CP_UTF8, 0, path, -1, path_, kMostLetters) == 0) return false;
  std::uint32_t name = 0;
  for (std::uint32_t i = 0; path_[i] != L'\0'; ++i) {
    if (path_[i] == L'/' || path_[i] == L'\\' || path_[i] == L':') name = i + 1;
  }
  if (path_[name] == L'\0') return false;
  std::memcpy(temporary_, path_, name * sizeof(wchar_t));
  wchar_t* to = temporary_ + name;
  for (const char* at = ".leakgate-"; *at != '\0'; ++at) *to++ = static_cast<wchar_t>(*at);
  const std::uint64_t number =
      MonotonicTime() * 0x9E37'79B9'7F4A'7C15ULL + static_cast<std::uint64_t>(CurrentTid());
  for (int shift = 60; shift >= 0; shift -= 4) *to++ = L"0123456789abcdef"[(number >> shift) & 15];
  for (const char* at = ".tmp"; *at != '\0'; ++at) *to++ = static_cast<wchar_t>(*at);
  return true;
}

NewFile::NewFile(const char* path) {
  if (!SplitPath(path)) {
    Check(static_cast<long>(kNameInvalid));
    return;
  }
  SystemPath temporary(temporary_);
  if (!temporary.is_known()) {
    Check(static_cast<long>(kPathInvalid));
    return;
  }
  OBJECT_ATTRIBUTES place{};
  place.Length = sizeof(place);
  place.ObjectName = temporary.get();
  place.Attributes = OBJ_CASE_INSENSITIVE;
  IO_STATUS_BLOCK done{};
  constexpr unsigned long kRights = FILE_WRITE_DATA | DELETE | SYNCHRONIZE;
  constexpr unsigned long kIsNew = 2;       // FILE_CREATE
  constexpr unsigned long kOptions = 0x60;  // no directory, synchronous
  const long status = g_ntdll.create_file(&file_, kRights, &place, &done, nullptr,
                                          FILE_ATTRIBUTE_NORMAL, 0, kIsNew, kOptions, nullptr, 0);
  if (!Check(status)) {
    file_ = nullptr;
    return;
  }
  (void)SetRemoved(true);  // not every file system can; then it is removed in the end
  error_ = 0;
}

NewFile::~NewFile() {
  if (file_ == nullptr) return;
  (void)SetRemoved(true);
  g_ntdll.close(file_);
}

bool NewFile::Check(long status) {
  error_ = status < 0 ? static_cast<int>(status) : 0;
  return error_ == 0;
}

bool NewFile::SetRemoved(bool is_removed) {
  IO_STATUS_BLOCK done{};
  unsigned char wanted = is_removed ? 1 : 0;
  return Check(g_ntdll.set_file(file_, &done, &wanted, sizeof(wanted), kRemoval));
}

bool NewFile::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    IO_STATUS_BLOCK done{};
    const long status =
        g_ntdll.write_file(file_, nullptr, nullptr, nullptr, &done, bytes.data(),
                           static_cast<unsigned long>(bytes.size()), nullptr, nullptr);
    if (!Check(status)) return false;
    if (done.Information == 0) return Check(static_cast<long>(kDiskFull));
    bytes.remove_prefix(done.Information);
  }
  return true;
}

bool NewFile::PutInPlace() {
  SystemPath path(path_);
  Renaming renaming;
  if (!path.is_known() || path.get()->Length > sizeof(renaming.name)) {
    return Check(static_cast<long>(kPathInvalid));
  }
  renaming.replaces = 1;
  renaming.folder = nullptr;
  renaming.name_bytes = path.get()->Length;
  std::memcpy(renaming.name, path.get()->Buffer, renaming.name_bytes);
  IO_STATUS_BLOCK done{};
  if (!SetRemoved(false) ||
      !Check(g_ntdll.set_file(file_, &done, &renaming, sizeof(renaming), kRename))) {
    return false;
  }
  g_ntdll.close(file_);
  file_ = nullptr;
  return true;
}

const char* NewFile::WhyNot() const {
  switch (static_cast<unsigned>(error_)) {
    case kNameInvalid:
    case kPathInvalid:
      return "it is no name of a file";
    case kNameNotFound:
    case kPathNotFound:
      return "No such file or directory";
    case kAccessDenied:
      return "Permission denied";
    case kSharingViolation:
      return "another process has it open";
    case kDiskFull:
      return "No space left on device";
    default:
      return "for an unknown reason";
  }
}

}  // namespace leakgate::agent
