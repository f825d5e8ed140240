#include "plugin/agent/exec/without_agent.h"

#include <limits.h>

#include <cstring>

#include "plugin/agent/exec/exec_file.h"
#include "plugin/agent/linux/exec_image.h"
#include "plugin/agent/linux/syscall.h"

namespace leakgate::agent {
namespace {

constexpr char kSeparators[] = " :";  // as the dynamic linker splits it
constexpr char kAgent[] = "/libleakgate_";

bool IsAgent(const char* path, std::size_t length) {
  std::size_t name = length;
  while (name > 0 && path[name - 1] != '/') --name;
  constexpr std::size_t kAgentLength = sizeof(kAgent) - 1;
  return name > 0 && length - name >= kAgentLength - 1 &&
         std::memcmp(path + name - 1, kAgent, kAgentLength) == 0;
}

// Writes `variable` without the agent. Returns the length of the rest, which may be empty.
std::size_t WriteOthers(const char* variable, char* to) {
  std::size_t written = 0;
  const char* path = variable + kPreloadLength;
  for (std::size_t length = 0; *path != '\0'; path += length) {
    path += std::strspn(path, kSeparators);
    length = std::strcspn(path, kSeparators);
    if (length == 0 || IsAgent(path, length)) continue;
    if (written != 0) to[written++] = ':';
    std::memcpy(to + written, path, length);
    written += length;
  }
  to[written] = '\0';
  return written;
}

bool HasAgent(const char* variable) {
  const char* path = variable + kPreloadLength;
  for (std::size_t length = 0; *path != '\0'; path += length) {
    path += std::strspn(path, kSeparators);
    length = std::strcspn(path, kSeparators);
    if (IsAgent(path, length)) return true;
  }
  return false;
}

// The path is in mapped memory: the caller's stack may be small.
bool FileTakesAgent(const ExecFile& file) {
  void* const memory = MapPrivate(PATH_MAX);
  if (memory == nullptr) return true;
  char* const path = static_cast<char*>(memory);
  const bool takes_agent = FindPath(file, path, PATH_MAX) == 0 || TakesAgent(path);
  RawSyscall(SYS_munmap, Word(memory), PATH_MAX);
  return takes_agent;
}

}  // namespace

EnvironmentSize SizeWithoutAgent(const ExecFile& file) {
  if (file.environment == nullptr) return {};
  EnvironmentSize size{.variables = 1};
  bool has_agent = false;
  for (char* const* it = file.environment; *it != nullptr; ++it, ++size.variables) {
    if (!IsPreload(*it)) continue;
    size.text_bytes += std::strlen(*it) + 1;
    has_agent = has_agent || HasAgent(*it);
  }
  return has_agent && !FileTakesAgent(file) ? size : EnvironmentSize{};
}

void CopyWithoutAgent(const ExecFile& file, char** variables, char* text) {
  for (char* const* it = file.environment; *it != nullptr; ++it) {
    if (!IsPreload(*it)) {
      *variables++ = *it;
      continue;
    }
    std::memcpy(text, kPreload, kPreloadLength);
    const std::size_t others = WriteOthers(*it, text + kPreloadLength);
    if (others == 0) continue;
    *variables++ = text;
    text += kPreloadLength + others + 1;
  }
  *variables = nullptr;
}

}  // namespace leakgate::agent
