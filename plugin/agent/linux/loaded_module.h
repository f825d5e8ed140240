// One module that the dynamic linker has loaded, as its own tables in memory tell of it:
// what it defines, and the slots through which it calls what others define.
//
// Read without the C library's help, in a callback of dl_iterate_phdr: the module cannot
// be unloaded meanwhile.
#pragma once

#include <elf.h>
#include <link.h>

#include <cstdint>
#include <span>

namespace leakgate::agent {

struct LoadedModule {
  std::uint64_t bias = 0;
  std::uint64_t begin = 0;  // of what is mapped
  std::uint64_t end = 0;
  const Elf64_Sym* symbols = nullptr;
  const char* strings = nullptr;
  const std::uint16_t* versions = nullptr;
  const std::uint32_t* gnu_hash = nullptr;
  const std::uint32_t* sysv_hash = nullptr;
  std::span<const Elf64_Rela> relocations;       // of data
  std::span<const Elf64_Rela> call_relocations;  // of calls: its procedure linkage table's

  bool Has(std::uint64_t address) const { return address - begin < end - begin; }
  bool Has(const void* address) const { return Has(reinterpret_cast<std::uint64_t>(address)); }
};

// False where it has no symbols.
[[nodiscard]] bool ReadModule(const dl_phdr_info& loaded, LoadedModule& module);

// The function that the module itself defines under this name, in its default version;
// nullptr if it does not, or only tells at run time where it is (an IFUNC).
[[nodiscard]] void* FindDefinition(const LoadedModule& module, const char* name);

// The hash of a name in a module's DT_GNU_HASH.
[[nodiscard]] std::uint32_t GnuHash(const char* name);

// Relocated and ready: not one that another thread is loading just now.
[[nodiscard]] bool IsReady(const LoadedModule& module);

}  // namespace leakgate::agent
