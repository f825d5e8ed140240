// The absolute path of a loaded module, without the C library's help.
#pragma once

#include <cstdint>

#include "plugin/agent/linux/memory_maps.h"

namespace leakgate::agent {

// `link_name` is the dynamic linker's name for the module (empty for the
// program, relative if it was loaded so), `begin` its first mapped address.
// Returns link_name itself, or a string in `buffer`; "[vdso]" for the kernel's.
const char* ModulePath(const char* link_name, std::uint64_t begin, PathBuffer& buffer);

}  // namespace leakgate::agent
