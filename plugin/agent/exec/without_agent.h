// The environment of a program that cannot have the agent preloaded (linux/exec_image.h): the
// one that it was given, but for the agent in LD_PRELOAD.
//
// Used from fork and vfork children as well: nothing is kept, and the caller's memory is used.
#pragma once

#include <cstddef>

#include "plugin/agent/exec/exec_file.h"

namespace leakgate::agent {

// What the copy needs.
struct EnvironmentSize {
  std::size_t variables = 0;   // with the nullptr that ends it
  std::size_t text_bytes = 0;  // of what is written anew
};

// Zeros: the file is executed with what it was given. REQUIRES: CanBeRead.
[[nodiscard]] EnvironmentSize SizeWithoutAgent(const ExecFile& file);

// REQUIRES: room for what SizeWithoutAgent told.
void CopyWithoutAgent(const ExecFile& file, char** variables, char* text);

}  // namespace leakgate::agent
