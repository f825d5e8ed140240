// A module as the dynamic linker has loaded it: where it is, how its frames are unwound, and what
// it is linked to.
#pragma once

#include <link.h>

#include <cstdint>

namespace leakgate::agent {

struct LoadedObject {
  std::uint64_t begin = 0;  // of what is mapped
  std::uint64_t end = 0;
  std::uint64_t bias = 0;                      // added to the addresses in the file
  const std::uint8_t* frame_header = nullptr;  // .eh_frame_hdr; nullptr if the module has none
  const ElfW(Dyn) * dynamic = nullptr;         // nullptr if the module has none
  const link_map* map = nullptr;               // nullptr if the C library does not provide it

  // Returns the dynamic linker's name of it, or nullptr.
  const char* Name() const { return map == nullptr ? nullptr : map->l_name; }
};

}  // namespace leakgate::agent
