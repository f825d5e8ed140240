#include "plugin/agent/exec/exec_environment.h"

#include <limits.h>
#include <link.h>

#include <cstddef>
#include <cstring>

#include "common/control_protocol.h"
#include "plugin/agent/exec/exec_file.h"
#include "plugin/agent/host/on_switch.h"
#include "plugin/agent/linux/find_object.h"
#include "plugin/agent/linux/syscall.h"

namespace leakgate::agent {
namespace {

// Written while tracing is enabled, when other threads may be executing programs. It is not written
// again before each of them has been seen outside the agent's code (common/attach_point.h).
struct Following {
  int pid = 0;  // 0: nothing is followed; release, after the rest, and acquire
  char control[108] = {};
  char agent[PATH_MAX] = {};
};
constinit Following g_following;

bool IsFollowed() {
  const int pid = __atomic_load_n(&g_following.pid, __ATOMIC_ACQUIRE);
  return pid != 0 && IsTracing() && pid == CurrentPid();
}

bool Sets(const char* variable, const char* name) {
  const std::size_t length = std::strlen(name);
  return std::strncmp(variable, name, length) == 0 && variable[length] == '=';
}

// Returns whether the preloaded libraries already begin with the agent.
bool BeginsWithAgent(const char* preloaded) {
  const std::size_t length = std::strlen(g_following.agent);
  if (std::strncmp(preloaded, g_following.agent, length) != 0) return false;
  const char next = preloaded[length];
  return next == '\0' || next == ':' || next == ' ';
}

struct Text {
  char* at;
  char* Add(const char* text) {
    char* const begin = at;
    const std::size_t length = std::strlen(text);
    std::memcpy(at, text, length + 1);
    at += length;
    return begin;
  }
};

}  // namespace

void FollowExecs(const char* control) {
  const link_map* const map = FindLinkMap(reinterpret_cast<const void*>(&FollowExecs));
  const std::size_t length = std::strlen(control);
  // The dynamic linker would split a path with one of these characters.
  const bool is_one = map != nullptr && map->l_name[0] == '/' &&
                      map->l_name[std::strcspn(map->l_name, " :\t\n")] == '\0';
  if (!is_one || length >= sizeof(g_following.control) ||
      std::strlen(map->l_name) >= sizeof(g_following.agent)) {
    return;
  }
  std::memcpy(g_following.control, control, length + 1);
  std::strcpy(g_following.agent, map->l_name);
  __atomic_store_n(&g_following.pid, CurrentPid(), __ATOMIC_RELEASE);
}

void StopFollowingExecs() { __atomic_store_n(&g_following.pid, 0, __ATOMIC_RELEASE); }

ExecEnvironment::ExecEnvironment(char* const* given) : variables_(given) {
  static char* const kNone[] = {nullptr};
  if (!IsFollowed()) return;
  if (given == nullptr) given = kNone;
  std::size_t count = 0;
  const char* preloaded = "";
  for (; given[count] != nullptr; ++count) {
    if (IsPreload(given[count])) preloaded = given[count] + kPreloadLength;
  }
  const std::size_t text_bytes = kPreloadLength + sizeof(kControlVariable) +
                                 std::strlen(g_following.agent) + std::strlen(preloaded) +
                                 std::strlen(g_following.control) + 4;
  bytes_ = (count + 3) * sizeof(char*) + text_bytes;
  memory_ = MapPrivate(bytes_);
  if (memory_ == nullptr) return;

  char** const variables = static_cast<char**>(memory_);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (!IsPreload(given[i]) && !Sets(given[i], kControlVariable)) variables[kept++] = given[i];
  }
  Text text{reinterpret_cast<char*>(variables + count + 3)};
  variables[kept++] = text.Add(kPreload);
  if (!BeginsWithAgent(preloaded)) {
    text.Add(g_following.agent);
    if (*preloaded != '\0') text.Add(":");
  }
  text.Add(preloaded);
  ++text.at;
  variables[kept++] = text.Add(kControlVariable);
  text.Add("=");
  text.Add(g_following.control);
  variables[kept] = nullptr;
  variables_ = variables;
}

ExecEnvironment::~ExecEnvironment() {
  if (memory_ != nullptr) RawSyscall(SYS_munmap, Word(memory_), static_cast<long>(bytes_));
}

}  // namespace leakgate::agent
