// The calls that execute another program. The runner is notified of them if it wants to know. If
// tracing was enabled in this process while it ran, the new program is given the agent. A program
// that cannot have the agent preloaded is started without it.
//
// These functions also run in children of fork, vfork and clone. So they write only to the stack.
#include <alloca.h>
#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>

#include "plugin/agent/exec/exec_environment.h"
#include "plugin/agent/exec/exec_notices.h"
#include "plugin/agent/exec/without_agent.h"
#include "plugin/agent/host/host_functions.h"
#include "plugin/agent/start/startup.h"

// interpose.h is not included: it reserves the register that frames with alloca need.
#define LEAKGATE_EXPORT extern "C" __attribute__((visibility("default")))

using namespace leakgate::agent;
using leakgate::ExecEvent;

namespace {

bool NeedsNotice(const ExecFile& file) {
  (void)RouteOfOtherCall();  // resolves the host's functions
  return NotifiesExecs() && CanBeRead(file);
}

// Calls `execute` with the environment that suits the file. Its copy is on the stack: a child of
// vfork would leave any other memory behind in its parent.
template <typename Execute>
int WithEnvironment(const ExecFile& file, const Execute& execute) {
  const EnvironmentSize size = CanBeRead(file) ? SizeWithoutAgent(file) : EnvironmentSize{};
  if (size.variables == 0) return execute(file.environment);
  char** const variables = static_cast<char**>(alloca(size.variables * sizeof(char*)));
  CopyWithoutAgent(file, variables, static_cast<char*>(alloca(size.text_bytes)));
  return execute(variables);
}

// `execute` returns only if it has failed.
template <typename Execute>
int ExecuteWithNotice(const ExecFile& file, const Execute& execute) {
  if (!NeedsNotice(file)) return WithEnvironment(file, execute);
  NotifyExec(ExecEvent::kStarts, file);
  const int result = WithEnvironment(file, execute);
  NotifyExec(ExecEvent::kFailed, file);
  return result;
}

// When the host's function returns, the child has executed the program.
template <typename Spawn>
int SpawnWithNotice(pid_t* pid, const ExecFile& file, const Spawn& spawn) {
  const bool needs_notice = NeedsNotice(file);
  pid_t child = 0;
  const int result = WithEnvironment(file, [&](char* const* environment) {
    return spawn(needs_notice ? &child : pid, environment);
  });
  if (result != 0 || !needs_notice) return result;
  if (pid != nullptr) *pid = child;
  NotifyExec(ExecEvent::kStarts, file, child);
  return result;
}

int Execute(const char* path, char* const* arguments, char* const* given) {
  const ExecEnvironment followed(given);
  return ExecuteWithNotice(
      {.path = path, .environment = followed.get()},
      [&](char* const* environment) { return g_host.execve(path, arguments, environment); });
}

int ExecuteSearched(const char* name, char* const* arguments, char* const* given) {
  const ExecEnvironment followed(given);
  return ExecuteWithNotice(
      {.path = name, .is_searched = true, .environment = followed.get()},
      [&](char* const* environment) { return g_host.execvpe(name, arguments, environment); });
}

std::size_t CountArguments(va_list list) {
  va_list counted;
  va_copy(counted, list);
  std::size_t count = 1;
  while (va_arg(counted, const char*) != nullptr) ++count;
  va_end(counted);
  return count;
}

void CopyArguments(const char* first, va_list list, std::size_t count, char** to) {
  to[0] = const_cast<char*>(first);
  for (std::size_t i = 1; i <= count; ++i) to[i] = va_arg(list, char*);
}

}  // namespace

LEAKGATE_EXPORT int execve(const char* path, char* const arguments[],
                           char* const environment[]) noexcept {
  return Execute(path, arguments, environment);
}

LEAKGATE_EXPORT int execv(const char* path, char* const arguments[]) noexcept {
  return Execute(path, arguments, environ);
}

LEAKGATE_EXPORT int execvp(const char* name, char* const arguments[]) noexcept {
  return ExecuteSearched(name, arguments, environ);
}

LEAKGATE_EXPORT int execvpe(const char* name, char* const arguments[],
                            char* const environment[]) noexcept {
  return ExecuteSearched(name, arguments, environment);
}

// The list of arguments as an array, on the caller's stack as in the C library.
#define LEAKGATE_LIST_ARGUMENTS(first, arguments, list)                              \
  va_list list;                                                                      \
  va_start(list, first);                                                             \
  const std::size_t count = CountArguments(list);                                    \
  char** const arguments = static_cast<char**>(alloca((count + 1) * sizeof(char*))); \
  CopyArguments(first, list, count, arguments)

LEAKGATE_EXPORT int execl(const char* path, const char* first, ...) noexcept {
  LEAKGATE_LIST_ARGUMENTS(first, arguments, list);
  va_end(list);
  return Execute(path, arguments, environ);
}

LEAKGATE_EXPORT int execlp(const char* name, const char* first, ...) noexcept {
  LEAKGATE_LIST_ARGUMENTS(first, arguments, list);
  va_end(list);
  return ExecuteSearched(name, arguments, environ);
}

LEAKGATE_EXPORT int execle(const char* path, const char* first, ...) noexcept {
  LEAKGATE_LIST_ARGUMENTS(first, arguments, list);
  char* const* const environment = va_arg(list, char**);
  va_end(list);
  return Execute(path, arguments, environment);
}

LEAKGATE_EXPORT int fexecve(int fd, char* const arguments[], char* const given[]) noexcept {
  const ExecEnvironment followed(given);
  return ExecuteWithNotice(
      {.directory = fd, .environment = followed.get()},
      [&](char* const* environment) { return g_host.fexecve(fd, arguments, environment); });
}

LEAKGATE_EXPORT int execveat(int directory, const char* path, char* const arguments[],
                             char* const given[], int flags) noexcept {
  const char* named = path;
  __asm__("" : "+r"(named));  // declared never to be null; for the kernel, null only means EFAULT
  const bool is_file = (flags & AT_EMPTY_PATH) != 0 && named != nullptr && named[0] == '\0';
  const ExecEnvironment followed(given);
  return ExecuteWithNotice(
      {.path = is_file ? nullptr : path, .directory = directory, .environment = followed.get()},
      [&](char* const* environment) {
        return g_host.execveat(directory, path, arguments, environment, flags);
      });
}

LEAKGATE_EXPORT int posix_spawn(pid_t* pid, const char* path,
                                const posix_spawn_file_actions_t* actions,
                                const posix_spawnattr_t* attributes, char* const arguments[],
                                char* const given[]) {
  return SpawnWithNotice(
      pid, {.path = path, .environment = given}, [&](pid_t* child, char* const* environment) {
        return g_host.posix_spawn(child, path, actions, attributes, arguments, environment);
      });
}

LEAKGATE_EXPORT int posix_spawnp(pid_t* pid, const char* name,
                                 const posix_spawn_file_actions_t* actions,
                                 const posix_spawnattr_t* attributes, char* const arguments[],
                                 char* const given[]) {
  return SpawnWithNotice(pid, {.path = name, .is_searched = true, .environment = given},
                         [&](pid_t* child, char* const* environment) {
                           return g_host.posix_spawnp(child, name, actions, attributes, arguments,
                                                      environment);
                         });
}
