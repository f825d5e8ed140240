// The calls by which the program maps memory itself: mmap and its family, and System V's segments.
// What the C library and the dynamic linker map for themselves does not come by here.
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>

#include <cstdarg>

#include "plugin/agent/interpose/interpose.h"
#include "plugin/agent/linux/syscall.h"
#include "plugin/agent/record/mapping_recorder.h"
#include "plugin/agent/unwind/module_table.h"

using namespace leakgate::agent;
using leakgate::AllocationKind;

namespace {

std::uint8_t ProtectionOf(int bits) {
  return static_cast<std::uint8_t>(bits & (PROT_READ | PROT_WRITE | PROT_EXEC));
}

AllocationKind KindOf(int flags) {
  if ((flags & MAP_ANONYMOUS) == 0) return AllocationKind::kMappedFile;
  const bool is_private = (flags & MAP_TYPE) == MAP_PRIVATE;
  return is_private ? AllocationKind::kMapped : AllocationKind::kMappedShared;
}

struct MapCall {
  void* address;
  std::size_t bytes;
  int protection;
  int flags;
  int fd;
  off_t offset;

  bool Replaces() const { return (flags & MAP_FIXED) != 0 && (flags & MAP_FIXED_NOREPLACE) == 0; }
};

using HostMmap = void* (*)(void*, std::size_t, int, int, int, off_t);

void* Forward(HostMmap host, const MapCall& call) {
  if (host != nullptr) {
    return host(call.address, call.bytes, call.protection, call.flags, call.fd, call.offset);
  }
  return reinterpret_cast<void*>(SystemCall(SYS_mmap, Word(call.address),
                                            static_cast<long>(call.bytes), call.protection,
                                            call.flags, call.fd, call.offset));
}

// Code that the program had made there is no longer what stacks may run through.
void NoteUnmapped(AddressRange range) { g_modules.NoteUnmapped(range.begin, range.end); }

// What the new mapping replaces is gone when the kernel has made it.
void* MapOver(HostMmap host, const MapCall& call, const CallerFrame& caller) {
  const TakenMappings taken = BeforeUnmapping(PagesOf(call.address, call.bytes));
  void* const mapped = Forward(host, call);
  if (mapped == MAP_FAILED) {
    UnmappingFailed(taken);
    return mapped;
  }
  NoteUnmapped(PagesOf(mapped, call.bytes));
  AfterUnmapping(taken);
  AfterMapping(PagesOf(mapped, call.bytes), {KindOf(call.flags), ProtectionOf(call.protection)},
               caller);
  return mapped;
}

void* Map(HostMmap host, const MapCall& call, const CallerFrame& caller) {
  if (!RecordsMappings(caller.pc)) return Forward(host, call);
  if (call.Replaces()) return MapOver(host, call, caller);
  BeforeMapping();
  void* const mapped = Forward(host, call);
  if (mapped == MAP_FAILED) return mapped;
  AfterMapping(PagesOf(mapped, call.bytes), {KindOf(call.flags), ProtectionOf(call.protection)},
               caller);
  return mapped;
}

int ForwardMunmap(void* address, std::size_t bytes) {
  if (g_host.munmap != nullptr) return g_host.munmap(address, bytes);
  return static_cast<int>(SystemCall(SYS_munmap, Word(address), static_cast<long>(bytes)));
}

struct RemapCall {
  void* address;
  std::size_t old_bytes;
  std::size_t new_bytes;
  int flags;
  void* new_address;

  bool IsFixed() const { return (flags & MREMAP_FIXED) != 0; }
  // The old mapping stays where it is.
  bool Keeps() const { return old_bytes == 0 || (flags & MREMAP_DONTUNMAP) != 0; }
};

void* Forward(const RemapCall& call) {
  if (g_host.mremap != nullptr) {
    return g_host.mremap(call.address, call.old_bytes, call.new_bytes, call.flags,
                         call.new_address);
  }
  return reinterpret_cast<void*>(
      SystemCall(SYS_mremap, Word(call.address), static_cast<long>(call.old_bytes),
                 static_cast<long>(call.new_bytes), call.flags, Word(call.new_address)));
}

// The range in whose place an mremap puts its result.
TakenMappings BeforeReplacing(const RemapCall& call) {
  if (!call.IsFixed()) return {};
  return BeforeUnmapping(PagesOf(call.new_address, call.new_bytes));
}

// A second mapping of what the first one shows, or of what it showed.
void* RemapBeside(const RemapCall& call, const CallerFrame& caller) {
  const MappingNature nature = NatureAt(call.address);
  const TakenMappings replaced = BeforeReplacing(call);
  void* const mapped = Forward(call);
  if (mapped == MAP_FAILED) {
    UnmappingFailed(replaced);
    return mapped;
  }
  AfterUnmapping(replaced);
  AfterMapping(PagesOf(mapped, call.new_bytes), nature, caller);
  return mapped;
}

void* Remap(const RemapCall& call, const CallerFrame& caller) {
  if (!RecordsMappings(caller.pc)) return Forward(call);
  if (call.Keeps()) return RemapBeside(call, caller);
  const AddressRange from = PagesOf(call.address, call.old_bytes);
  const TakenMappings taken = BeforeUnmapping(from);
  const TakenMappings replaced = BeforeReplacing(call);
  void* const mapped = Forward(call);
  if (mapped == MAP_FAILED) {
    UnmappingFailed(taken);
    UnmappingFailed(replaced);
    return mapped;
  }
  NoteUnmapped(from);
  AfterUnmapping(replaced);
  AfterMoving(taken, from, PagesOf(mapped, call.new_bytes), caller);
  return mapped;
}

int Protect(void* address, std::size_t bytes, int protection, const CallerFrame& caller,
            int result) {
  if (result == 0 && RecordsMappings(caller.pc)) {
    AfterProtecting(PagesOf(address, bytes), protection, caller);
  }
  return result;
}

// 0 if it cannot be asked, and then it cannot be attached either.
std::size_t BytesOfSegment(int id) {
  shmid_ds segment{};
  const long result = RawSyscall(SYS_shmctl, id, IPC_STAT, Word(&segment));
  return IsError(result) ? 0 : segment.shm_segsz;
}

}  // namespace

LEAKGATE_EXPORT void* mmap(void* address, std::size_t bytes, int protection, int flags, int fd,
                           off_t offset) noexcept {
  return Map(g_host.mmap, {address, bytes, protection, flags, fd, offset}, LEAKGATE_CALLER());
}

LEAKGATE_EXPORT void* mmap64(void* address, std::size_t bytes, int protection, int flags, int fd,
                             off64_t offset) noexcept {
  return Map(g_host.mmap64, {address, bytes, protection, flags, fd, offset}, LEAKGATE_CALLER());
}

LEAKGATE_EXPORT int munmap(void* address, std::size_t bytes) noexcept {
  const CallerFrame caller = LEAKGATE_CALLER();
  if (!RecordsMappings(caller.pc)) return ForwardMunmap(address, bytes);
  const TakenMappings taken = BeforeUnmapping(PagesOf(address, bytes));
  const int result = ForwardMunmap(address, bytes);
  if (result == 0) {
    NoteUnmapped(PagesOf(address, bytes));
    AfterUnmapping(taken);
  } else {
    UnmappingFailed(taken);
  }
  return result;
}

// The fifth argument is there with some flags only; what is in its place else is passed on
// unread, as the C library does.
LEAKGATE_EXPORT void* mremap(void* address, std::size_t old_bytes, std::size_t new_bytes, int flags,
                             ...) noexcept {
  va_list rest;
  va_start(rest, flags);
  void* const new_address = va_arg(rest, void*);
  va_end(rest);
  return Remap({address, old_bytes, new_bytes, flags, new_address}, LEAKGATE_CALLER());
}

LEAKGATE_EXPORT int mprotect(void* address, std::size_t bytes, int protection) noexcept {
  const int result = g_host.mprotect != nullptr
                         ? g_host.mprotect(address, bytes, protection)
                         : static_cast<int>(SystemCall(SYS_mprotect, Word(address),
                                                       static_cast<long>(bytes), protection));
  return Protect(address, bytes, protection, LEAKGATE_CALLER(), result);
}

LEAKGATE_EXPORT int pkey_mprotect(void* address, std::size_t bytes, int protection,
                                  int key) noexcept {
  const int result = g_host.pkey_mprotect != nullptr
                         ? g_host.pkey_mprotect(address, bytes, protection, key)
                         : static_cast<int>(SystemCall(SYS_pkey_mprotect, Word(address),
                                                       static_cast<long>(bytes), protection, key));
  return Protect(address, bytes, protection, LEAKGATE_CALLER(), result);
}

LEAKGATE_EXPORT void* shmat(int id, const void* address, int flags) noexcept {
  const CallerFrame caller = LEAKGATE_CALLER();
  const bool is_recorded = RecordsMappings(caller.pc);
  const std::size_t bytes = is_recorded ? BytesOfSegment(id) : 0;
  const bool replaces = is_recorded && (flags & SHM_REMAP) != 0;
  const TakenMappings taken = replaces ? BeforeUnmapping(PagesOf(address, bytes)) : TakenMappings{};
  void* const attached =
      g_host.shmat != nullptr
          ? g_host.shmat(id, address, flags)
          : reinterpret_cast<void*>(SystemCall(SYS_shmat, id, Word(address), flags));
  const bool has_failed = attached == reinterpret_cast<void*>(-1);
  if (has_failed) {
    if (is_recorded) UnmappingFailed(taken);
    return attached;
  }
  if (!is_recorded) return attached;
  AfterUnmapping(taken);
  const int protection = (flags & SHM_RDONLY) != 0 ? PROT_READ : PROT_READ | PROT_WRITE;
  AfterMapping(PagesOf(attached, bytes), {AllocationKind::kMappedShared, ProtectionOf(protection)},
               caller);
  return attached;
}

LEAKGATE_EXPORT int shmdt(const void* address) noexcept {
  const CallerFrame caller = LEAKGATE_CALLER();
  const bool is_recorded = RecordsMappings(caller.pc);
  const TakenMappings taken = is_recorded ? BeforeUnmapping(PieceAt(address)) : TakenMappings{};
  const int result = g_host.shmdt != nullptr
                         ? g_host.shmdt(address)
                         : static_cast<int>(SystemCall(SYS_shmdt, Word(address)));
  if (!is_recorded) return result;
  if (result == 0) {
    AfterUnmapping(taken);
  } else {
    UnmappingFailed(taken);
  }
  return result;
}
