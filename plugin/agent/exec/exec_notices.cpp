#include "plugin/agent/exec/exec_notices.h"

#include <atomic>
#include <cstring>

#include "plugin/agent/base/visibility.h"
#include "plugin/agent/exec/exec_file.h"
#include "plugin/agent/linux/control_client.h"
#include "plugin/agent/linux/syscall.h"

namespace leakgate::agent {
namespace {

// The state that fork children inherit. The control socket's name is a copy, since the program may
// overwrite its environment.
struct ExecTelling {
  std::atomic<std::uint32_t> window{0};  // relaxed: nothing else is published with it
  // Set last, with release, which pairs with the acquire in NotifiesExecs: other threads may be
  // executing programs while tracing is enabled.
  std::atomic<bool> is_on{false};
  std::atomic<bool> keeps_window{false};  // relaxed, too
  char control[108] = {};
};
constinit ExecTelling g_telling;

// Returns whether a program that starts with `environment` would not have the agent, or would not
// find the runner.
bool LeavesAgent(char* const* environment) {
  bool preloads = false;
  bool has_control = false;
  for (char* const* it = environment; it != nullptr && *it != nullptr; ++it) {
    const char* const variable = *it;
    if (IsPreload(variable)) {
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
  g_telling.is_on.store(true, std::memory_order_release);
}

void NoteWindowForExecs(std::uint32_t window) {
  if (g_telling.keeps_window.load(std::memory_order_relaxed)) return;
  g_telling.window.store(window, std::memory_order_relaxed);
}

std::uint32_t WindowForExecs() { return g_telling.window.load(std::memory_order_relaxed); }

void KeepWindowForExecs() { g_telling.keeps_window.store(true, std::memory_order_relaxed); }

bool NotifiesExecs() { return g_telling.is_on.load(std::memory_order_acquire); }

// The notice is in mapped memory: a child between clone and exec may have only a small stack.
void NotifyExec(ExecEvent event, const ExecFile& file, int pid) {
  void* const memory = MapPrivate(sizeof(ExecNotice));
  if (memory == nullptr) return;
  auto& notice = *static_cast<ExecNotice*>(memory);
  notice.magic = kExecMagic;
  notice.event = static_cast<std::uint32_t>(event);
  notice.pid = pid;
  notice.window = g_telling.window.load(std::memory_order_relaxed);
  notice.leaves_agent = LeavesAgent(file.environment) ? 1 : 0;
  notice.path_length =
      static_cast<std::uint32_t>(FindPath(file, notice.path, ExecNotice::kPathCapacity));
  if (notice.path_length != 0) SendExecNotice(g_telling.control, notice);
  RawSyscall(SYS_munmap, Word(memory), sizeof(ExecNotice));
}

}  // namespace leakgate::agent
