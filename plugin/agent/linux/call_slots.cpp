#include "plugin/agent/linux/call_slots.h"

#include <dlfcn.h>

#include <atomic>
#include <cstring>

#include "plugin/agent/arch/processor.h"
#include "plugin/agent/linux/loaded_module.h"
#include "plugin/agent/linux/page_protections.h"

#include LEAKGATE_ARCH(elf)

namespace leakgate::agent {
namespace {

std::uint64_t AddressOf(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

bool IsAgent(const LoadedModule& module) {
  return module.Has(reinterpret_cast<const void*>(&RedirectSlots));
}

// Returns whether it is the dynamic linker: no other module calls its functions, and its own calls
// are bound at start-up. It is recognised by a function, because an executable may have copies of
// its variables.
bool IsDynamicLinker(const LoadedModule& module) {
  return FindDefinition(module, "_dl_mcount") != nullptr;
}

// Few of all the addresses in modules' tables are those of the functions. One bit for each function
// shows this, so that hardly any other symbol's name must be compared.
class AddressFilter {
 public:
  void Add(std::uint64_t address) { words_[WordOf(address)] |= Bit(address); }
  bool MayHave(std::uint64_t address) const {
    return (words_[WordOf(address)] & Bit(address)) != 0;
  }

 private:
  static constexpr std::size_t kWords = 64;
  // Functions begin at multiples of 16.
  static std::uint64_t Bit(std::uint64_t address) { return 1ULL << ((address >> 4) % 64); }
  static std::size_t WordOf(std::uint64_t address) { return (address >> 10) % kWords; }

  std::uint64_t words_[kWords] = {};
};

// An index of the functions by name, so that not each must be compared.
class NameIndex {
 public:
  explicit NameIndex(std::span<const Redirection> functions) : functions_(functions) {
    for (std::size_t i = 0; i < functions.size() && i < kMostRedirections; ++i) {
      std::uint8_t& first = buckets_[BucketOf(functions[i].name)];
      next_[i] = first;
      first = static_cast<std::uint8_t>(i + 1);
    }
  }

  const Redirection* Find(const char* name) const {
    for (std::uint8_t at = buckets_[BucketOf(name)]; at != 0; at = next_[at - 1]) {
      const Redirection& function = functions_[at - 1];
      if (std::strcmp(function.name, name) == 0) return &function;
    }
    return nullptr;
  }

 private:
  static constexpr std::size_t kBuckets = 256;
  static std::size_t BucketOf(const char* name) { return GnuHash(name) % kBuckets; }

  std::span<const Redirection> functions_;
  std::uint8_t buckets_[kBuckets] = {};        // 1 + the number of the first; 0: none
  std::uint8_t next_[kMostRedirections] = {};  // likewise
};

class SlotWriter {
 public:
  SlotWriter(std::span<const Redirection> functions, Redirect to) : names_(functions), to_(to) {
    for (const Redirection& function : functions) {
      if (function.host != nullptr) filter_.Add(Before(function));
    }
  }

  void Visit(const LoadedModule& module) {
    binding_ = to_ == Redirect::kToAgent ? Binding::kNotLooked : Binding::kElsewhere;
    for (const Elf64_Rela& relocation : module.relocations) Visit(module, relocation);
    for (const Elf64_Rela& relocation : module.call_relocations) Visit(module, relocation);
  }

  RedirectedSlots result;

 private:
  std::uint64_t Before(const Redirection& function) const {
    return AddressOf(to_ == Redirect::kToAgent ? function.host : function.ours);
  }
  std::uint64_t After(const Redirection& function) const {
    return AddressOf(to_ == Redirect::kToAgent ? function.ours : function.host);
  }

  static std::uint64_t* SlotOf(const LoadedModule& module, const Elf64_Rela& relocation) {
    const std::uint64_t address = module.bias + relocation.r_offset;
    const bool is_slot = module.Has(address) && address % sizeof(std::uint64_t) == 0;
    return is_slot ? reinterpret_cast<std::uint64_t*>(address) : nullptr;
  }

  // The module calls an allocator of its own, by at least one of the functions: then it is unknown
  // where the unresolved ones would lead.
  bool BindsElsewhere(const LoadedModule& module) const {
    for (const Elf64_Rela& relocation : module.call_relocations) {
      const Elf64_Sym& symbol = module.symbols[ELF64_R_SYM(relocation.r_info)];
      const std::uint64_t* const slot = SlotOf(module, relocation);
      if (slot == nullptr || symbol.st_shndx != SHN_UNDEF || module.Has(*slot)) continue;
      const Redirection* const function = names_.Find(module.strings + symbol.st_name);
      if (function == nullptr || function->family != Redirection::Family::kAllocation) continue;
      if (*slot != AddressOf(function->host) && *slot != AddressOf(function->ours)) return true;
    }
    return false;
  }

  bool BindsAsOthers(const LoadedModule& module) {
    if (binding_ == Binding::kNotLooked) {
      binding_ = BindsElsewhere(module) ? Binding::kElsewhere : Binding::kAsOthers;
    }
    return binding_ == Binding::kAsOthers;
  }

  void Visit(const LoadedModule& module, const Elf64_Rela& relocation) {
    const std::uint64_t type = ELF64_R_TYPE(relocation.r_info);
    const bool is_call = type == kCallSlotRelocation;
    const bool is_pointer =
        type == kAddressSlotRelocation || (type == kPointerRelocation && relocation.r_addend == 0);
    std::uint64_t* const slot = SlotOf(module, relocation);
    if ((!is_call && !is_pointer) || slot == nullptr) return;

    const std::uint64_t value = std::atomic_ref(*slot).load(std::memory_order_relaxed);
    const Elf64_Sym& symbol = module.symbols[ELF64_R_SYM(relocation.r_info)];
    const bool is_unresolved =
        to_ == Redirect::kToAgent && is_call && symbol.st_shndx == SHN_UNDEF && module.Has(value);
    if (!is_unresolved && !filter_.MayHave(value)) return;
    const Redirection* const function = names_.Find(module.strings + symbol.st_name);
    if (function == nullptr || function->host == nullptr) return;
    const bool is_to_be_written =
        is_unresolved ? function->resolves && BindsAsOthers(module) : value == Before(*function);
    if (is_to_be_written) Write(slot, After(*function), is_unresolved);
  }

  void Write(std::uint64_t* slot, std::uint64_t value, bool is_unresolved) {
    if (!pages_.Store(slot, value)) {
      ++result.not_writable;
      return;
    }
    ++result.changed;
    if (is_unresolved) ++result.unresolved;
  }

  // Where the unresolved calls of the visited module would lead.
  enum class Binding { kNotLooked, kAsOthers, kElsewhere };

  const NameIndex names_;
  const Redirect to_;
  AddressFilter filter_;
  PageProtections pages_;
  Binding binding_ = Binding::kNotLooked;
};

// Calls `visit` with each module in `range`, except the agent and the dynamic linker.
template <typename Visit>
void ForEachModule(ModuleRange range, const Visit& visit) {
  struct Walk {
    ModuleRange range;
    const Visit& visit;
    std::uint32_t place;
  };
  Walk walk{range, visit, 0};
  dl_iterate_phdr(
      [](dl_phdr_info* loaded, std::size_t, void* given) {
        Walk& walk_here = *static_cast<Walk*>(given);
        if (!walk_here.range.Has(walk_here.place++)) return 0;
        LoadedModule module;
        if (!ReadModule(*loaded, module) || IsAgent(module) || IsDynamicLinker(module)) return 0;
        walk_here.visit(module);
        return 0;
      },
      &walk);
}

}  // namespace

RedirectedSlots RedirectSlots(std::span<const Redirection> functions, Redirect to,
                              ModuleRange range) {
  SlotWriter writer(functions, to);
  ForEachModule(range, [&](const LoadedModule& module) {
    if (IsReady(module)) {
      writer.Visit(module);
    } else {
      writer.result.skipped_modules = true;
    }
  });
  return writer.result;
}

void FindHosts(std::span<Redirection> functions, ModuleRange range) {
  ForEachModule(range, [&](const LoadedModule& module) {
    for (Redirection& function : functions) {
      if (function.host == nullptr) function.host = FindDefinition(module, function.name);
    }
  });
}

void* FindHost(const char* name, ModuleRange range) {
  Redirection wanted{.name = name, .ours = nullptr};
  FindHosts({&wanted, 1}, range);
  return wanted.host;
}

void ResolveOnlyWhereSure(std::span<Redirection> functions) {
  ForEachModule({}, [&](const LoadedModule& module) {
    for (Redirection& function : functions) {
      const void* const defined = FindDefinition(module, function.name);
      if (defined != nullptr && defined != function.host) function.resolves = false;
    }
  });
}

std::uint64_t CountOfLoads() {
  std::uint64_t count = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* loaded, std::size_t, void* given) {
        *static_cast<std::uint64_t*>(given) = loaded->dlpi_adds;
        return 1;
      },
      &count);
  return count;
}

}  // namespace leakgate::agent
