#include "plugin/agent/linux/symbol_values.h"

#include <sys/mman.h>

#include <atomic>

#include "plugin/agent/arch/processor.h"
#include "plugin/agent/linux/loaded_module.h"
#include "plugin/agent/linux/syscall.h"

#include LEAKGATE_ARCH(memory)

namespace leakgate::agent {
namespace {

// The segment of a module that holds its symbols, as it is mapped.
struct Segment {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  long protection = 0;
};

Segment SegmentOfSymbols(const dl_phdr_info& loaded, const LoadedModule& module) {
  const auto symbols = reinterpret_cast<std::uint64_t>(module.symbols);
  for (std::uint32_t i = 0; i < loaded.dlpi_phnum; ++i) {
    const Elf64_Phdr& header = loaded.dlpi_phdr[i];
    const std::uint64_t begin = module.bias + header.p_vaddr;
    if (header.p_type != PT_LOAD || symbols - begin >= header.p_memsz) continue;
    const std::uint64_t first_page = begin & ~(kPageBytes - 1);
    const long protection = ((header.p_flags & PF_R) != 0 ? PROT_READ : 0) |
                            ((header.p_flags & PF_W) != 0 ? PROT_WRITE : 0) |
                            ((header.p_flags & PF_X) != 0 ? PROT_EXEC : 0);
    return {first_page, begin + header.p_memsz - first_page, protection};
  }
  return {};
}

bool Protect(const Segment& segment, long protection) {
  return !IsError(RawSyscall(SYS_mprotect, static_cast<long>(segment.begin),
                             static_cast<long>(segment.bytes), protection));
}

bool HasAny(const LoadedModule& module, std::span<const Redirection> functions) {
  for (const Redirection& function : functions) {
    if (function.host != nullptr && module.Has(function.host)) return true;
  }
  return false;
}

// An old version of the function may be the same one.
void Lead(const LoadedModule& module, const Redirection& function) {
  const auto host = reinterpret_cast<std::uint64_t>(function.host);
  VisitDefinitions(module, function.name, [&](const Elf64_Sym& symbol) {
    if (module.bias + symbol.st_value != host) return;
    auto& value = const_cast<Elf64_Addr&>(symbol.st_value);
    // Other threads look it up meanwhile: they find the one function or the other.
    std::atomic_ref(value).store(reinterpret_cast<std::uint64_t>(function.ours) - module.bias,
                                 std::memory_order_relaxed);
  });
}

int LeadInModule(dl_phdr_info* loaded, std::size_t, void* given) {
  const auto& functions = *static_cast<std::span<const Redirection>*>(given);
  LoadedModule module;
  if (!ReadModule(*loaded, module) || !HasAny(module, functions)) return 0;
  const Segment segment = SegmentOfSymbols(*loaded, module);
  // The whole segment, so that it stays one mapping.
  if (segment.bytes == 0 || !Protect(segment, segment.protection | PROT_WRITE)) return 0;
  for (const Redirection& function : functions) {
    if (function.host != nullptr && module.Has(function.host)) Lead(module, function);
  }
  Protect(segment, segment.protection);
  return 0;
}

}  // namespace

void LeadLookups(std::span<const Redirection> functions) {
  dl_iterate_phdr(LeadInModule, &functions);
}

}  // namespace leakgate::agent
