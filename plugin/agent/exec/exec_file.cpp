#include "plugin/agent/exec/exec_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

#include "plugin/agent/host/host_functions.h"
#include "plugin/agent/linux/syscall.h"

namespace leakgate::agent {
namespace {

// A path that is built from its parts, and cut if it is too long.
class PathText {
 public:
  PathText(char* to, std::size_t capacity) : to_(to), capacity_(capacity) { *to = '\0'; }

  std::size_t length() const { return length_; }

  void Add(const char* text, std::size_t length) {
    for (std::size_t i = 0; i < length && length_ + 1 < capacity_; ++i) {
      to_[length_++] = text[i];
    }
    to_[length_] = '\0';
  }
  void Add(const char* text) { Add(text, std::strlen(text)); }
  void Clear() { length_ = 0; }

  void AddCurrentDirectory() {
    const long length = RawSyscall(SYS_getcwd, Word(to_), static_cast<long>(capacity_));
    length_ = IsError(length) || length == 0 ? 0 : static_cast<std::size_t>(length) - 1;
  }
  // Adds the path of an open file.
  void AddFile(int fd) {
    char link[32] = "/proc/self/fd/";
    char digits[12];
    int count = 0;
    for (unsigned rest = unsigned(fd); rest != 0 || count == 0; rest /= 10) {
      digits[count++] = static_cast<char>('0' + rest % 10);
    }
    std::size_t at = std::strlen(link);
    while (count > 0) link[at++] = digits[--count];
    link[at] = '\0';
    const long length = RawSyscall(SYS_readlinkat, AT_FDCWD, Word(&link[0]), Word(to_),
                                   static_cast<long>(capacity_) - 1);
    length_ = IsError(length) ? 0 : static_cast<std::size_t>(length);
    to_[length_] = '\0';
  }

  bool IsExecutable() const {
    struct stat facts {};
    return !IsError(RawSyscall(SYS_newfstatat, AT_FDCWD, Word(to_), Word(&facts), 0)) &&
           S_ISREG(facts.st_mode) && !IsError(RawSyscall(SYS_faccessat, AT_FDCWD, Word(to_), X_OK));
  }

 private:
  char* to_;
  std::size_t capacity_;
  std::size_t length_ = 0;
};

// Searches for the file as execvp does: the first in PATH that is executable. The path stays empty
// if there is none.
void Search(const char* name, PathText& path) {
  const char* directories = g_host.getenv("PATH");
  if (directories == nullptr) directories = "/bin:/usr/bin";
  for (;;) {
    const char* const end = strchrnul(directories, ':');
    path.Clear();
    if (*directories != '/') path.AddCurrentDirectory();
    if (*directories != '/' && end != directories) path.Add("/");
    path.Add(directories, static_cast<std::size_t>(end - directories));
    path.Add("/");
    path.Add(name);
    if (path.IsExecutable()) return;
    if (*end == '\0') return path.Clear();
    directories = end + 1;
  }
}

void AddPath(const ExecFile& file, PathText& path) {
  if (file.path == nullptr) return path.AddFile(file.directory);
  if (file.path[0] == '/') return path.Add(file.path);
  if (file.is_searched && std::strchr(file.path, '/') == nullptr) return Search(file.path, path);
  if (file.directory >= 0) {
    path.AddFile(file.directory);
  } else {
    path.AddCurrentDirectory();
  }
  path.Add("/");
  path.Add(file.path);
}

bool CanBeRead(const void* pointer) {
  return pointer == nullptr || IsReadable(reinterpret_cast<std::uintptr_t>(pointer));
}

}  // namespace

bool CanBeRead(const ExecFile& file) {
  return CanBeRead(file.path) && CanBeRead(static_cast<const void*>(file.environment));
}

std::size_t FindPath(const ExecFile& file, char* to, std::size_t capacity) {
  PathText path(to, capacity);
  AddPath(file, path);
  return path.length();
}

}  // namespace leakgate::agent
