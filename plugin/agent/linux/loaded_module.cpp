#include "plugin/agent/linux/loaded_module.h"

#include <atomic>
#include <cstring>

#include "plugin/agent/arch/processor.h"
#include "plugin/agent/linux/find_object.h"

#include LEAKGATE_ARCH(elf)

namespace leakgate::agent {
namespace {

constexpr std::uint16_t kHiddenVersion = 0x8000;  // not the default version of its name

template <typename T>
const T* At(std::uint64_t address) {
  return reinterpret_cast<const T*>(address);
}

void ReadSegments(const dl_phdr_info& loaded, LoadedModule& module, const Elf64_Dyn*& dynamic) {
  module.bias = loaded.dlpi_addr;
  module.begin = UINT64_MAX;
  for (std::uint32_t i = 0; i < loaded.dlpi_phnum; ++i) {
    const Elf64_Phdr& segment = loaded.dlpi_phdr[i];
    const std::uint64_t begin = module.bias + segment.p_vaddr;
    if (segment.p_type == PT_DYNAMIC) dynamic = At<Elf64_Dyn>(begin);
    if (segment.p_type != PT_LOAD) continue;
    if (begin < module.begin) module.begin = begin;
    if (begin + segment.p_memsz > module.end) module.end = begin + segment.p_memsz;
  }
}

// The dynamic linker has added the bias to the addresses in the table; the kernel, which
// loads the vdso, has not.
std::uint64_t AddressIn(const LoadedModule& module, const Elf64_Dyn& entry) {
  const std::uint64_t address = entry.d_un.d_ptr;
  return address < module.begin ? address + module.bias : address;
}

// The System V ABI's hash of a name.
std::uint32_t SysvHash(const char* name) {
  std::uint32_t hash = 0;
  for (; *name != '\0'; ++name) {
    hash = (hash << 4) + static_cast<unsigned char>(*name);
    hash = (hash ^ ((hash & 0xF000'0000) >> 24)) & 0x0FFF'FFFF;
  }
  return hash;
}

bool IsDefinition(const LoadedModule& module, std::uint32_t index, const char* name) {
  const Elf64_Sym& symbol = module.symbols[index];
  if (symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC) return false;
  if (module.versions != nullptr && (module.versions[index] & kHiddenVersion) != 0) return false;
  return std::strcmp(module.strings + symbol.st_name, name) == 0;
}

// Returns 0 if there is none.
std::uint32_t FindByGnuHash(const LoadedModule& module, const char* name) {
  const std::uint32_t* const table = module.gnu_hash;
  const std::uint32_t bucket_count = table[0];
  const std::uint32_t first_symbol = table[1];
  const std::uint32_t* const buckets = table + 4 + std::uint64_t{table[2]} * 2;
  const std::uint32_t* const chains = buckets + bucket_count;
  if (bucket_count == 0) return 0;
  const std::uint32_t hash = GnuHash(name);
  std::uint32_t index = buckets[hash % bucket_count];
  if (index < first_symbol) return 0;
  for (;; ++index) {
    const std::uint32_t chained = chains[index - first_symbol];
    if (((chained ^ hash) >> 1) == 0 && IsDefinition(module, index, name)) return index;
    if ((chained & 1) != 0) return 0;
  }
}

std::uint32_t FindBySysvHash(const LoadedModule& module, const char* name) {
  const std::uint32_t bucket_count = module.sysv_hash[0];
  const std::uint32_t* const buckets = module.sysv_hash + 2;
  const std::uint32_t* const chains = buckets + bucket_count;
  if (bucket_count == 0) return 0;
  for (std::uint32_t at = buckets[SysvHash(name) % bucket_count]; at != 0; at = chains[at]) {
    if (IsDefinition(module, at, name)) return at;
  }
  return 0;
}

// Until a module is relocated, a slot has the content of the file: an address without the bias, or
// 0. So does an optional symbol that is not found: such slots are skipped.
bool IsLastSlotFilled(const LoadedModule& module, std::span<const Elf64_Rela> relocations) {
  for (std::size_t i = relocations.size(); i > 0; --i) {
    const Elf64_Rela& relocation = relocations[i - 1];
    const std::uint64_t type = ELF64_R_TYPE(relocation.r_info);
    const Elf64_Sym& symbol = module.symbols[ELF64_R_SYM(relocation.r_info)];
    const std::uint64_t address = module.bias + relocation.r_offset;
    if ((type != kCallSlotRelocation && type != kAddressSlotRelocation) ||
        ELF64_ST_BIND(symbol.st_info) != STB_GLOBAL || !module.Has(address)) {
      continue;
    }
    const std::uint64_t value =
        std::atomic_ref(*reinterpret_cast<std::uint64_t*>(address)).load(std::memory_order_acquire);
    return value >= (module.bias == 0 ? 1 : module.end - module.begin);
  }
  return true;
}

}  // namespace

std::uint32_t GnuHash(const char* name) {
  std::uint32_t hash = 5381;
  for (; *name != '\0'; ++name) hash = hash * 33 + static_cast<unsigned char>(*name);
  return hash;
}

bool ReadModule(const dl_phdr_info& loaded, LoadedModule& module) {
  const Elf64_Dyn* dynamic = nullptr;
  ReadSegments(loaded, module, dynamic);
  if (dynamic == nullptr) return false;

  std::uint64_t data = 0;
  std::uint64_t data_bytes = 0;
  std::uint64_t calls = 0;
  std::uint64_t calls_bytes = 0;
  for (; dynamic->d_tag != DT_NULL; ++dynamic) {
    switch (dynamic->d_tag) {
      case DT_SYMTAB:
        module.symbols = At<Elf64_Sym>(AddressIn(module, *dynamic));
        break;
      case DT_STRTAB:
        module.strings = At<char>(AddressIn(module, *dynamic));
        break;
      case DT_VERSYM:
        module.versions = At<std::uint16_t>(AddressIn(module, *dynamic));
        break;
      case DT_GNU_HASH:
        module.gnu_hash = At<std::uint32_t>(AddressIn(module, *dynamic));
        break;
      case DT_HASH:
        module.sysv_hash = At<std::uint32_t>(AddressIn(module, *dynamic));
        break;
      case DT_RELA:
        data = AddressIn(module, *dynamic);
        break;
      case DT_RELASZ:
        data_bytes = dynamic->d_un.d_val;
        break;
      case DT_JMPREL:
        calls = AddressIn(module, *dynamic);
        break;
      case DT_PLTRELSZ:
        calls_bytes = dynamic->d_un.d_val;
        break;
      default:
        break;
    }
  }
  module.relocations = {At<Elf64_Rela>(data), data_bytes / sizeof(Elf64_Rela)};
  module.call_relocations = {At<Elf64_Rela>(calls), calls_bytes / sizeof(Elf64_Rela)};
  return module.symbols != nullptr && module.strings != nullptr;
}

void* FindDefinition(const LoadedModule& module, const char* name) {
  std::uint32_t index = 0;
  if (module.gnu_hash != nullptr) {
    index = FindByGnuHash(module, name);
  } else if (module.sysv_hash != nullptr) {
    index = FindBySysvHash(module, name);
  }
  if (index == 0) return nullptr;
  return reinterpret_cast<void*>(module.bias + module.symbols[index].st_value);
}

// Slots of calls are filled last.
bool HasFilledSlots(const LoadedModule& module) {
  return IsLastSlotFilled(module, module.call_relocations) &&
         IsLastSlotFilled(module, module.relocations);
}

// glibc finds a module in this way once it has relocated it.
bool IsReady(const LoadedModule& module) {
  LoadedObject object;
  return LoaderFindsObjects() ? FindObject(At<void>(module.begin), object) : HasFilledSlots(module);
}

}  // namespace leakgate::agent
