#include "plugin/agent/exec_notices.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "plugin/agent/host_functions.h"
#include "plugin/agent/linux/control_client.h"
#include "plugin/agent/linux/syscall.h"
#include "plugin/agent/visibility.h"

namespace leakgate::agent {
namespace {

// What fork children inherit. The control socket's name is copied: the program may
// write over its environment.
struct ExecTelling {
  std::atomic<std::uint32_t> window{0};
  bool is_on = false;
  char control[108] = {};
};
constinit ExecTelling g_telling;

// The notice's path, built from its parts; cut where it is too long.
class PathText {
 public:
  explicit PathText(ExecNotice& notice) : notice_(notice) { notice.path_length = 0; }

  void Add(const char* text, std::size_t length) {
    for (std::size_t i = 0; i < length && notice_.path_length + 1 < kCapacity; ++i) {
      notice_.path[notice_.path_length++] = text[i];
    }
    notice_.path[notice_.path_length] = '\0';
  }
  void Add(const char* text) { Add(text, std::strlen(text)); }
  void Clear() { notice_.path_length = 0; }

  void AddCurrentDirectory() {
    char* const to = notice_.path;
    const long length = RawSyscall(SYS_getcwd, Word(to), kCapacity);
    notice_.path_length = IsError(length) || length == 0 ? 0 : std::uint32_t(length) - 1;
  }
  // Of an open file.
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
    const long length =
        RawSyscall(SYS_readlink, Word(&link[0]), Word(&notice_.path[0]), kCapacity - 1);
    notice_.path_length = IsError(length) ? 0 : static_cast<std::uint32_t>(length);
    notice_.path[notice_.path_length] = '\0';
  }

  bool IsExecutable() const {
    struct stat facts {};
    return !IsError(RawSyscall(SYS_stat, Word(&notice_.path[0]), Word(&facts))) &&
           S_ISREG(facts.st_mode) && !IsError(RawSyscall(SYS_access, Word(&notice_.path[0]), X_OK));
  }

 private:
  static constexpr long kCapacity = ExecNotice::kPathCapacity;
  ExecNotice& notice_;
};

// As execvp looks: the first in PATH that is executable. Empty: none is.
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

void FindPath(const ExecFile& file, PathText& path) {
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

// Whether a program that starts with `environment` finds neither agent nor runner.
bool LeavesAgent(char* const* environment) {
  constexpr char kPreload[] = "LD_PRELOAD=";
  bool preloads = false;
  bool has_control = false;
  for (char* const* it = environment; it != nullptr && *it != nullptr; ++it) {
    const char* const variable = *it;
    if (std::strncmp(variable, kPreload, sizeof(kPreload) - 1) == 0) {
      preloads = preloads || std::strstr(variable, "leakgate") != nullptr;
    }
    const std::size_t length = sizeof(kControlVariable) - 1;
    if (std::strncmp(variable, kControlVariable, length) == 0 && variable[length] == '=') {
      has_control = has_control || std::strcmp(variable + length + 1, g_telling.control) == 0;
    }
  }
  return !preloads || !has_control;
}

}  // namespace

void StartExecNotices(const char* control, std::uint32_t window) {
  const std::size_t length = std::strlen(control);
  if (length >= sizeof(g_telling.control)) return;
  std::memcpy(g_telling.control, control, length + 1);
  g_telling.window.store(window, std::memory_order_relaxed);
  g_telling.is_on = true;
}

void NoteWindowForExecs(std::uint32_t window) {
  g_telling.window.store(window, std::memory_order_relaxed);
}

bool TellsOfExecs() { return g_telling.is_on; }

// From memory of its own: a child between clone and exec may have but a small stack.
void TellOfExec(ExecEvent event, const ExecFile& file, int pid) {
  void* const memory = MapPrivate(sizeof(ExecNotice));
  if (memory == nullptr) return;
  auto& notice = *static_cast<ExecNotice*>(memory);
  notice.magic = kExecMagic;
  notice.event = static_cast<std::uint32_t>(event);
  notice.pid = pid;
  notice.window = g_telling.window.load(std::memory_order_relaxed);
  notice.leaves_agent = LeavesAgent(file.environment) ? 1 : 0;
  PathText path(notice);
  FindPath(file, path);
  if (notice.path_length != 0) SendExecNotice(g_telling.control, notice);
  RawSyscall(SYS_munmap, Word(memory), sizeof(ExecNotice));
}

}  // namespace leakgate::agent
