#include "plugin/agent/linux/new_file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "plugin/agent/linux/syscall.h"

// glibc has it since 2.32. Weak: the agent can be loaded even if it is missing.
extern "C" __attribute__((weak)) const char* strerrordesc_np(int error) noexcept;

namespace leakgate::agent {
namespace {

// The texts are constant and independent of the locale, so nothing is allocated or locked. Returns
// nullptr for an error without a text.
const char* TextOf(int error) {
  if (&strerrordesc_np != nullptr) return strerrordesc_np(error);
  switch (error) {
    case EACCES:
      return "Permission denied";
    case EDQUOT:
      return "Disk quota exceeded";
    case EMFILE:
      return "Too many open files";
    case ENOENT:
      return "No such file or directory";
    case ENOSPC:
      return "No space left on device";
    case EROFS:
      return "Read-only file system";
    default:
      return nullptr;
  }
}

constexpr long kHere = AT_FDCWD;
constexpr long kForOwner = 0600;

// Writes `number` in hexadecimal digits, and returns the end of them.
char* WriteHex(std::uint64_t number, char* to) {
  for (int shift = 60; shift >= 0; shift -= 4) {
    *to++ = "0123456789abcdef"[(number >> static_cast<unsigned>(shift)) & 15];
  }
  return to;
}

// "/proc/self/fd/12": by such a name an unprivileged process may link a file that it has open.
struct OpenFileName {
  explicit OpenFileName(int fd) {
    std::memcpy(text, "/proc/self/fd/", sizeof("/proc/self/fd/"));
    char digits[12];
    int count = 0;
    do digits[count++] = static_cast<char>('0' + fd % 10);
    while ((fd /= 10) != 0);
    char* to = text + std::strlen(text);
    while (count > 0) *to++ = digits[--count];
    *to = '\0';
  }
  char text[32];
};

}  // namespace

NewFile::NewFile(const char* path) { Open(path); }

NewFile::~NewFile() {
  if (is_named_) RawSyscall(SYS_unlinkat, directory_, Word(temporary_), 0);
  if (file_ != kNone) CloseDescriptor(file_);
  if (directory_ != kNone) CloseDescriptor(directory_);
}

bool NewFile::Check(long result) {
  error_ = IsError(result) ? static_cast<int>(-result) : 0;
  return error_ == 0;
}

void NewFile::Open(const char* path) {
  if (path == nullptr || !SplitPath(path)) {
    error_ = path == nullptr || *path == '\0' ? ENOENT : ENAMETOOLONG;
    return;
  }
  const long directory =
      RawSyscall(SYS_openat, kHere, Word(parent_), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (!Check(directory)) return;
  directory_ = static_cast<int>(directory);

  struct stat there {};
  const bool is_there = !IsError(
      RawSyscall(SYS_newfstatat, directory_, Word(name_), Word(&there), AT_SYMLINK_NOFOLLOW));
  if (is_there && S_ISLNK(there.st_mode)) return OpenBehindLink(path);
  if (*name_ == '\0' || (is_there && S_ISDIR(there.st_mode))) {
    error_ = EISDIR;
  } else if (is_there && !S_ISREG(there.st_mode)) {
    error_ = kNotRegular;
  } else {
    OpenInDirectory();
  }
}

// Finds the directory of the path, "." if it names none, and the name in it.
bool NewFile::SplitPath(const char* path) {
  const std::size_t length = std::strlen(path);
  if (length == 0 || length >= sizeof(parent_)) return false;
  const char* const slash = std::strrchr(path, '/');
  name_ = slash == nullptr ? path : slash + 1;
  if (slash == nullptr) {
    std::memcpy(parent_, ".", 2);
  } else {
    std::memcpy(parent_, path, static_cast<std::size_t>(name_ - path));
  }
  return true;
}

// The link may lead to a terminal or a FIFO, on which opening has an effect.
void NewFile::OpenBehindLink(const char* path) {
  constexpr long kFlags = O_WRONLY | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  const long file = RawSyscall(SYS_openat, kHere, Word(path), kFlags, kForOwner);
  if (!Check(file)) return;
  file_ = static_cast<int>(file);
  is_in_place_ = true;
  if (IsRegular()) Check(RawSyscall(SYS_ftruncate, file_, 0));
}

bool NewFile::IsRegular() {
  struct stat facts {};
  if (!Check(RawSyscall(SYS_fstat, file_, Word(&facts)))) return false;
  if (!S_ISREG(facts.st_mode)) error_ = kNotRegular;
  return error_ == 0;
}

// ".leakgate-0123456789abcdef.tmp"
void NewFile::ChooseTemporaryName() {
  std::uint64_t random = 0;
  RawSyscall(SYS_getrandom, Word(&random), sizeof(random), 0);
  std::memcpy(temporary_, ".leakgate-", 10);
  std::memcpy(WriteHex(random, temporary_ + 10), ".tmp", 5);
}

void NewFile::OpenInDirectory() {
  const long unnamed =
      RawSyscall(SYS_openat, directory_, Word("."), O_TMPFILE | O_WRONLY | O_CLOEXEC, kForOwner);
  if (!IsError(unnamed)) {
    file_ = static_cast<int>(unnamed);
    const OpenFileName own_name(file_);
    if (!IsError(RawSyscall(SYS_faccessat, kHere, Word(own_name.text), F_OK))) return;
    CloseDescriptor(file_);
    file_ = kNone;
  }
  constexpr long kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  ChooseTemporaryName();
  const long named = RawSyscall(SYS_openat, directory_, Word(temporary_), kFlags, kForOwner);
  if (!Check(named)) return;
  file_ = static_cast<int>(named);
  is_named_ = true;
}

bool NewFile::HasRoomFor(std::int64_t bytes) {
  rlimit limit{};
  if (!Check(RawSyscall(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, Word(&limit)))) return false;
  if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < static_cast<std::uint64_t>(bytes)) {
    error_ = EFBIG;
  }
  return error_ == 0;
}

bool NewFile::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const long written =
        RawSyscall(SYS_write, file_, Word(bytes.data()), static_cast<long>(bytes.size()));
    if (written == -EINTR) continue;
    if (!Check(written == 0 ? -EIO : written)) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// Only a file that has a name can replace another one.
bool NewFile::PutInPlace() {
  if (is_in_place_) return true;
  if (!is_named_) {
    const OpenFileName own_name(file_);
    const auto link_as = [&](const char* name) {
      return RawSyscall(SYS_linkat, kHere, Word(own_name.text), directory_, Word(name),
                        AT_SYMLINK_FOLLOW);
    };
    const long linked = link_as(name_);
    if (linked != -EEXIST) return Check(linked);
    ChooseTemporaryName();
    if (!Check(link_as(temporary_))) return false;
    is_named_ = true;
  }
  if (!Check(RawSyscall(SYS_renameat2, directory_, Word(temporary_), directory_, Word(name_), 0))) {
    return false;
  }
  is_named_ = false;
  return true;
}

const char* NewFile::WhyNot() const {
  if (error_ == kNotRegular) return "it is not a regular file";
  const char* const text = TextOf(error_);
  return text == nullptr ? "for an unknown reason" : text;
}

}  // namespace leakgate::agent
