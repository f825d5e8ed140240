#include "plugin/agent/hook/nt/memory_hooks.h"

#include <windows.h>

#include "plugin/agent/arch/caller_frame.h"
#include "plugin/agent/nt/last_error.h"
#include "plugin/agent/nt/ntdll.h"
#include "plugin/agent/nt/syscall.h"
#include "plugin/agent/record/mapping_recorder.h"
#include "plugin/agent/unwind/module_table.h"

#include LEAKGATE_ARCH(interposer)

namespace leakgate::agent {
namespace {

bool IsOwn(void* process) {
  return process == ::GetCurrentProcess() ||
         ::GetProcessId(process) == static_cast<DWORD>(CurrentPid());
}

// What is committed counts, whether it can be used or not.
std::uint8_t ProtectionOf(unsigned long pages) {
  constexpr unsigned long kWritable =
      PAGE_READWRITE | PAGE_WRITECOPY | PAGE_EXECUTE_READWRITE | PAGE_EXECUTE_WRITECOPY;
  constexpr unsigned long kExecutable =
      PAGE_EXECUTE | PAGE_EXECUTE_READ | PAGE_EXECUTE_READWRITE | PAGE_EXECUTE_WRITECOPY;
  unsigned bits = kMayRead;
  if ((pages & kWritable) != 0) bits |= kMayWrite;
  if ((pages & kExecutable) != 0) bits |= kMayExecute;
  return static_cast<std::uint8_t>(bits);
}

// Returns the whole allocation, or the whole view, that has this address; an empty range if there
// is none.
AddressRange AllocationWith(void* address) {
  const LastErrorKeeper keeper;
  MEMORY_BASIC_INFORMATION facts;
  if (::VirtualQuery(address, &facts, sizeof(facts)) == 0 || facts.State == MEM_FREE) return {};
  void* const base = facts.AllocationBase;
  const auto begin = reinterpret_cast<std::uint64_t>(base);
  std::uint64_t end = begin;
  while (::VirtualQuery(reinterpret_cast<void*>(end), &facts, sizeof(facts)) != 0 &&
         facts.State != MEM_FREE && facts.AllocationBase == base) {
    end += facts.RegionSize;
  }
  return {begin, end};
}

// One call that may be recorded; none is once the system has ended all other threads: one of
// them may have left the table half changed. The program's last error stays as the system leaves
// it.
class MemoryCall {
 public:
  MemoryCall(void* process, const CallerFrame& caller) : caller_(caller) {
    const LastErrorKeeper keeper;
    is_recorded_ = IsOwn(process) && !AreOtherThreadsGone() && RecordsMappings(caller.pc);
  }

  void BeforeMapping() const {
    const LastErrorKeeper keeper;
    if (is_recorded_) agent::BeforeMapping();
  }
  void Added(AddressRange range, MappingNature nature) const {
    const LastErrorKeeper keeper;
    if (is_recorded_) AfterMapping(range, nature, caller_);
  }
  void Committed(AddressRange range, std::uint8_t protection) const {
    const LastErrorKeeper keeper;
    if (is_recorded_) AfterProtecting(range, protection, caller_);
  }
  void Decommitted(AddressRange range) const { Committed(range, 0); }

  // Returns what `unmap` returns, which makes what `find` returns free.
  template <typename Find, typename Unmap>
  long Unmapped(const Find& find, const Unmap& unmap) const {
    if (!is_recorded_) return unmap();
    const AddressRange range = find();
    TakenMappings taken;
    {
      const LastErrorKeeper keeper;
      if (range.begin < range.end) taken = BeforeUnmapping(range);
    }
    const long status = unmap();
    const LastErrorKeeper keeper;
    if (status >= 0) {
      g_modules.NoteUnmapped(range.begin, range.end);
      AfterUnmapping(taken);
    } else {
      UnmappingFailed(taken);
    }
    return status;
  }

 private:
  const CallerFrame caller_;
  bool is_recorded_ = false;
};

// What the system was asked for, and where it was to be: nullptr for anywhere.
struct Asked {
  void* at;
  unsigned long type;
  unsigned long protection;
};

void NoteAllocated(const MemoryCall& call, const Asked& asked, AddressRange range) {
  if ((asked.type & (MEM_RESET | MEM_RESET_UNDO)) != 0) return;
  const bool is_committed = (asked.type & MEM_COMMIT) != 0;
  const std::uint8_t protection = is_committed ? ProtectionOf(asked.protection) : 0;
  if ((asked.type & MEM_RESERVE) != 0 || asked.at == nullptr) {
    return call.Added(range, {AllocationKind::kMapped, protection});
  }
  if (is_committed) call.Committed(range, protection);
}

// Calls `allocate`, which changes what `base` and `bytes` point to.
template <typename Allocate>
long Allocated(void* process, void** base, const std::size_t* bytes, Asked asked,
               const CallerFrame& caller, const Allocate& allocate) {
  const MemoryCall call(process, caller);
  call.BeforeMapping();
  asked.at = base == nullptr ? nullptr : *base;
  const long status = allocate();
  if (status >= 0) NoteAllocated(call, asked, PagesOf(*base, *bytes));
  return status;
}

long __stdcall HookedAllocateMemory(void* process, void** base, std::uint64_t zero_bits,
                                    std::size_t* bytes, unsigned long type,
                                    unsigned long protection) {
  return Allocated(process, base, bytes, {nullptr, type, protection}, LEAKGATE_CALLER(), [=] {
    return g_ntdll.allocate_memory(process, base, zero_bits, bytes, type, protection);
  });
}

long __stdcall HookedAllocateMemoryEx(void* process, void** base, std::size_t* bytes,
                                      unsigned long type, unsigned long protection,
                                      void* parameters, unsigned long count) {
  return Allocated(process, base, bytes, {nullptr, type, protection}, LEAKGATE_CALLER(), [=] {
    return g_ntdll.allocate_memory_ex(process, base, bytes, type, protection, parameters, count);
  });
}

long __stdcall HookedFreeMemory(void* process, void** base, std::size_t* bytes,
                                unsigned long type) {
  const MemoryCall call(process, LEAKGATE_CALLER());
  const auto free = [=] { return g_ntdll.free_memory(process, base, bytes, type); };
  if ((type & MEM_DECOMMIT) != 0) {
    const long status = free();
    if (status >= 0) call.Decommitted(PagesOf(*base, *bytes));
    return status;
  }
  if (base == nullptr || bytes == nullptr) return free();
  const auto find = [=] {
    if (*bytes != 0) return PagesOf(*base, *bytes);
    const AddressRange all = AllocationWith(*base);
    const bool is_begin = all.begin == PagesOf(*base, 1).begin;  // else the system refuses
    return is_begin ? all : AddressRange{};
  };
  return call.Unmapped(find, free);
}

// SECTION_BASIC_INFORMATION
struct SectionFacts {
  void* base;
  unsigned long attributes;
  std::int64_t bytes;
};

// Programs and libraries that are mapped are the loader's.
void NoteView(const MemoryCall& call, void* section, AddressRange range, unsigned long protection) {
  constexpr unsigned long kOfFile = 0x80'0000;
  SectionFacts facts{};
  const bool is_known = g_ntdll.query_section(section, 0, &facts, sizeof(facts), nullptr) >= 0;
  if (is_known && (facts.attributes & SEC_IMAGE) != 0) return;
  const bool is_of_file = is_known && (facts.attributes & kOfFile) != 0;
  const bool is_reserved = is_known && (facts.attributes & SEC_RESERVE) != 0;
  call.Added(range, {is_of_file ? AllocationKind::kMappedFile : AllocationKind::kMappedShared,
                     is_reserved ? std::uint8_t{0} : ProtectionOf(protection)});
}

long __stdcall HookedMapView(void* section, void* process, void** base, std::uint64_t zero_bits,
                             std::size_t committed, std::int64_t* offset, std::size_t* bytes,
                             unsigned inherits, unsigned long type, unsigned long protection) {
  const MemoryCall call(process, LEAKGATE_CALLER());
  call.BeforeMapping();
  const long status = g_ntdll.map_view(section, process, base, zero_bits, committed, offset, bytes,
                                       inherits, type, protection);
  if (status >= 0) NoteView(call, section, PagesOf(*base, *bytes), protection);
  return status;
}

long __stdcall HookedMapViewEx(void* section, void* process, void** base, std::int64_t* offset,
                               std::size_t* bytes, unsigned long type, unsigned long protection,
                               void* parameters, unsigned long count) {
  const MemoryCall call(process, LEAKGATE_CALLER());
  call.BeforeMapping();
  const long status = g_ntdll.map_view_ex(section, process, base, offset, bytes, type, protection,
                                          parameters, count);
  if (status >= 0) NoteView(call, section, PagesOf(*base, *bytes), protection);
  return status;
}

long __stdcall HookedUnmapView(void* process, void* base) {
  const MemoryCall call(process, LEAKGATE_CALLER());
  return call.Unmapped([=] { return AllocationWith(base); },
                       [=] { return g_ntdll.unmap_view(process, base); });
}

long __stdcall HookedUnmapViewEx(void* process, void* base, unsigned long flags) {
  const MemoryCall call(process, LEAKGATE_CALLER());
  return call.Unmapped([=] { return AllocationWith(base); },
                       [=] { return g_ntdll.unmap_view_ex(process, base, flags); });
}

template <typename Function>
std::uint64_t AddressOf(Function* function) {
  return reinterpret_cast<std::uint64_t>(function);
}

}  // namespace

void ListMemoryHooks(SlotChange (&hooks)[kMemoryHooks]) {
  hooks[0] = {AddressOf(g_ntdll.allocate_memory), AddressOf(&HookedAllocateMemory)};
  hooks[1] = {AddressOf(g_ntdll.allocate_memory_ex), AddressOf(&HookedAllocateMemoryEx)};
  hooks[2] = {AddressOf(g_ntdll.free_memory), AddressOf(&HookedFreeMemory)};
  hooks[3] = {AddressOf(g_ntdll.map_view), AddressOf(&HookedMapView)};
  hooks[4] = {AddressOf(g_ntdll.map_view_ex), AddressOf(&HookedMapViewEx)};
  hooks[5] = {AddressOf(g_ntdll.unmap_view), AddressOf(&HookedUnmapView)};
  hooks[6] = {AddressOf(g_ntdll.unmap_view_ex), AddressOf(&HookedUnmapViewEx)};
}

}  // namespace leakgate::agent
