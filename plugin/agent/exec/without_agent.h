// The environment of a program that cannot have the agent preloaded (linux/exec_image.h): the
// environment that was passed to exec, without the agent in LD_PRELOAD.
//
// Used by fork and vfork children as well. So nothing is kept, and the caller's memory is used.
#pragma once

#include <cstddef>

#include "plugin/agent/exec/exec_file.h"

namespace leakgate::agent {

// The memory that the copy needs.
struct EnvironmentSize {
  std::size_t variables = 0;   // with the nullptr at the end
  std::size_t text_bytes = 0;  // for variables that are rewritten
};

// Returns zeros if the file is to be executed with the given environment. REQUIRES: CanBeRead.
[[nodiscard]] EnvironmentSize SizeWithoutAgent(const ExecFile& file);

// Writes the copy. REQUIRES: there is as much room as SizeWithoutAgent returned.
void CopyWithoutAgent(const ExecFile& file, char** variables, char* text);

}  // namespace leakgate::agent
