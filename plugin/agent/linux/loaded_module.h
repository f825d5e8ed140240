// One module that the dynamic linker has loaded, as the module's own tables in memory describe it:
// what it defines, and the slots through which it calls what others define.
//
// It is read without the C library's help, in a callback of dl_iterate_phdr. So the module cannot
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

// Returns false if the module has no symbols.
[[nodiscard]] bool ReadModule(const dl_phdr_info& loaded, LoadedModule& module);

// Returns the function that the module itself defines under this name, in its default version.
// Returns nullptr if there is none, or if only code of the module can determine its address (an
// IFUNC).
[[nodiscard]] void* FindDefinition(const LoadedModule& module, const char* name);

// Returns the hash of a name in a module's DT_GNU_HASH.
[[nodiscard]] std::uint32_t GnuHash(const char* name);

// Returns whether the module is relocated and ready, and not being loaded by another thread at the
// moment.
[[nodiscard]] bool IsReady(const LoadedModule& module);

// Returns whether the dynamic linker has filled the slots through which the module calls and reads
// what others define. This replaces IsReady() if the C library cannot be asked.
[[nodiscard]] bool HasFilledSlots(const LoadedModule& module);

}  // namespace leakgate::agent
