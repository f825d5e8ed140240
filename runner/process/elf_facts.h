// The facts about an ELF executable that decide whether it can be traced.
#pragma once

#include <string>

#include "runner/base/descriptors.h"

namespace leakgate {

struct ElfFacts {
  bool is_elf = false;
  bool is_of_this_processor = false;
  std::string architecture;      // of another processor, for messages
  std::string interpreter;       // the dynamic linker; empty: statically linked
  std::string sanitizer;         // "AddressSanitizer"; empty: none
  std::string sanitizer_option;  // "address"
  bool defines_malloc = false;
  bool needs_google_test = false;  // the file needs a shared libgtest
};

// Reads the facts with libelf. A damaged file yields those that could be read.
[[nodiscard]] ElfFacts ReadElfFacts(const UniqueFd& file);

}  // namespace leakgate
