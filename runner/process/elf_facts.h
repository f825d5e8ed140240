// The facts about an ELF executable that decide whether it can be traced.
#pragma once

#include <string>

#include "runner/base/descriptors.h"

namespace leakgate {

struct ElfFacts {
  bool is_elf = false;
  bool is_x86_64 = false;
  std::string architecture;      // as messages call it; empty for x86-64
  std::string interpreter;       // the dynamic linker; empty: the file is statically linked
  std::string sanitizer;         // such as "AddressSanitizer"; empty: none
  std::string sanitizer_option;  // what follows -fsanitize=, such as "address"
  bool defines_malloc = false;
  bool needs_google_test = false;  // the file needs a shared libgtest
};

// Reads the facts with libelf. A damaged file yields those that could be read.
[[nodiscard]] ElfFacts ReadElfFacts(const UniqueFd& file);

}  // namespace leakgate
