// A file that is about to be executed, and where it is.
//
// Used in exec calls, also in children of fork and vfork. So nothing is kept, and nothing but the
// caller's buffer is written.
#pragma once

#include <cstddef>
#include <cstring>

namespace leakgate::agent {

// The file as the caller of an exec function names it.
struct ExecFile {
  const char* path = nullptr;          // as given; nullptr if `directory` itself is the file
  int directory = -1;                  // where a relative path begins; -1: the current one
  bool is_searched = false;            // a name without '/' is to be looked up in PATH
  char* const* environment = nullptr;  // of the new program
};

// Returns whether the path and the environment can be read at all. If not, the kernel just returns
// an error to the caller.
[[nodiscard]] bool CanBeRead(const ExecFile& file);

// Writes the absolute path, cut if it is too long. Returns its length; 0 if there is no such file.
// REQUIRES: CanBeRead.
std::size_t FindPath(const ExecFile& file, char* to, std::size_t capacity);

// The variable of an environment by which the agent is preloaded.
inline constexpr char kPreload[] = "LD_PRELOAD=";
inline constexpr std::size_t kPreloadLength = sizeof(kPreload) - 1;

inline bool IsPreload(const char* variable) {
  return std::strncmp(variable, kPreload, kPreloadLength) == 0;
}

}  // namespace leakgate::agent
