// A file that is about to be executed, and where it is. Used by the calls that execute, in
// children of fork and vfork as well: nothing is kept, and nothing but the caller's buffer
// is written.
#pragma once

#include <cstddef>
#include <cstring>

namespace leakgate::agent {

// As the functions that execute name it.
struct ExecFile {
  const char* path = nullptr;          // as given; nullptr: `directory` itself is the file
  int directory = -1;                  // that a relative path is in; -1: the current one
  bool is_searched = false;            // a name without '/' is looked up in PATH
  char* const* environment = nullptr;  // of the new program
};

// Whether the path and the environment are addresses at all: for the kernel those that are none
// are but an error.
[[nodiscard]] bool CanBeRead(const ExecFile& file);

// Writes the absolute path, cut where it is too long. Its length; 0: there is none.
// REQUIRES: CanBeRead.
std::size_t FindPath(const ExecFile& file, char* to, std::size_t capacity);

// The variable of an environment by which the agent is preloaded.
inline constexpr char kPreload[] = "LD_PRELOAD=";
inline constexpr std::size_t kPreloadLength = sizeof(kPreload) - 1;

inline bool IsPreload(const char* variable) {
  return std::strncmp(variable, kPreload, kPreloadLength) == 0;
}

}  // namespace leakgate::agent
