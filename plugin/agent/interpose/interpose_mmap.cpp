// The calls by which the program maps memory itself: mmap and its family, System V's segments, the
// data segment's end, and the same as system calls by number. Mappings that the C library and the
// dynamic linker make for themselves do not go through these functions.
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>

#include <cstdarg>

#include "plugin/agent/interpose/interpose.h"
#include "plugin/agent/linux/syscall.h"
#include "plugin/agent/record/mapping_recorder.h"
#include "plugin/agent/unwind/module_table.h"

#include LEAKGATE_ARCH(chosen_jump)
#include LEAKGATE_ARCH(memory)

// Another name of the C library's sbrk, which needs no symbol look-up.
extern "C" void* __sbrk(std::intptr_t bytes);

using namespace leakgate::agent;
using leakgate::AllocationKind;

namespace {

// Held while a call is forwarded, or made by its number. A library that interposes the same
// functions may implement them by system calls: those are not the program's.
class Inside {
 public:
  Inside() : was_inside_(t_is_inside) { t_is_inside = true; }
  ~Inside() { t_is_inside = was_inside_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

  [[nodiscard]] bool WasInside() const { return was_inside_; }

 private:
  static thread_local constinit bool t_is_inside;
  const bool was_inside_;
};
thread_local constinit bool Inside::t_is_inside = false;

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
  const Inside inside;
  if (host != nullptr && !inside.WasInside()) {
    return host(call.address, call.bytes, call.protection, call.flags, call.fd, call.offset);
  }
  return reinterpret_cast<void*>(SystemCall(SYS_mmap, Word(call.address),
                                            static_cast<long>(call.bytes), call.protection,
                                            call.flags, call.fd, call.offset));
}

// Code that the program had made there is no longer what stacks may run through.
void NoteUnmapped(AddressRange range) { g_modules.NoteUnmapped(range.begin, range.end); }

// The old content is gone once the kernel has made the new mapping.
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
  const Inside inside;
  if (g_host.munmap != nullptr && !inside.WasInside()) return g_host.munmap(address, bytes);
  return static_cast<int>(SystemCall(SYS_munmap, Word(address), static_cast<long>(bytes)));
}

int Unmap(void* address, std::size_t bytes, const CallerFrame& caller) {
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

struct RemapCall {
  void* address;
  std::size_t old_bytes;
  std::size_t new_bytes;
  int flags;
  void* new_address;

  bool IsFixed() const { return (flags & MREMAP_FIXED) != 0; }
  // Returns whether the old mapping stays where it is.
  bool Keeps() const { return old_bytes == 0 || (flags & MREMAP_DONTUNMAP) != 0; }
};

void* Forward(const RemapCall& call) {
  const Inside inside;
  if (g_host.mremap != nullptr && !inside.WasInside()) {
    return g_host.mremap(call.address, call.old_bytes, call.new_bytes, call.flags,
                         call.new_address);
  }
  return reinterpret_cast<void*>(
      SystemCall(SYS_mremap, Word(call.address), static_cast<long>(call.old_bytes),
                 static_cast<long>(call.new_bytes), call.flags, Word(call.new_address)));
}

// Takes the mappings in whose place an mremap puts its result.
TakenMappings BeforeReplacing(const RemapCall& call) {
  if (!call.IsFixed()) return {};
  return BeforeUnmapping(PagesOf(call.new_address, call.new_bytes));
}

// Makes a second mapping of what the first one shows, or of what it showed.
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

int ForwardMprotect(void* address, std::size_t bytes, int protection) {
  const Inside inside;
  if (g_host.mprotect != nullptr && !inside.WasInside()) {
    return g_host.mprotect(address, bytes, protection);
  }
  return static_cast<int>(
      SystemCall(SYS_mprotect, Word(address), static_cast<long>(bytes), protection));
}

int Protect(void* address, std::size_t bytes, int protection, const CallerFrame& caller,
            int result) {
  if (result == 0 && RecordsMappings(caller.pc)) {
    AfterProtecting(PagesOf(address, bytes), ProtectionOf(protection), caller);
  }
  return result;
}

// The pages that begin between two breaks of the data segment: those that go with the upper one.
AddressRange PagesBetween(std::uint64_t low, std::uint64_t high) {
  const auto up = [](std::uint64_t address) {
    return (address + PageBytes() - 1) & ~(PageBytes() - 1);
  };
  return {up(low), up(high)};
}

std::uint64_t CurrentBreak() { return static_cast<std::uint64_t>(RawSyscall(SYS_brk, 0)); }

void* const kNoBreak = reinterpret_cast<void*>(-1);

void* ForwardSbrk(std::intptr_t bytes) {
  const Inside inside;
  return g_host.sbrk != nullptr ? g_host.sbrk(bytes) : __sbrk(bytes);
}

int ForwardBrk(void* end) {
  const Inside inside;
  if (g_host.brk != nullptr) return g_host.brk(end);
  const char* const before = static_cast<char*>(__sbrk(0));
  return __sbrk(static_cast<char*>(end) - before) == kNoBreak ? -1 : 0;
}

void AfterMappingOfBreak(AddressRange pages, const CallerFrame& caller) {
  if (pages.begin >= pages.end) return;
  AfterMapping(pages, {AllocationKind::kMapped, ProtectionOf(PROT_READ | PROT_WRITE)}, caller);
}

// Calls `move`, which moves the end of the data segment to `wanted`, and records what that maps or
// unmaps. Memory of the segment that the C library's malloc uses does not go through here.
template <typename Move>
auto MoveBreak(std::uint64_t wanted, const CallerFrame& caller, const Move& move) {
  const bool is_recorded = RecordsMappings(caller.pc);
  const std::uint64_t before = is_recorded ? CurrentBreak() : 0;
  const TakenMappings taken = is_recorded && wanted < before
                                  ? BeforeUnmapping(PagesBetween(wanted, before))
                                  : TakenMappings{};
  if (is_recorded && wanted > before) BeforeMapping();
  const auto result = move();
  if (!is_recorded) return result;
  const std::uint64_t after = CurrentBreak();
  if (after >= before) UnmappingFailed(taken);
  if (after < before) AfterUnmapping(taken);
  if (wanted > before) AfterMappingOfBreak(PagesBetween(before, after), caller);
  return result;
}

// Returns 0 if the size cannot be read, and then the segment cannot be attached either.
std::size_t BytesOfSegment(int id) {
  shmid_ds segment{};
  const long result = RawSyscall(SYS_shmctl, id, IPC_STAT, Word(&segment));
  return IsError(result) ? 0 : segment.shm_segsz;
}

void* Attach(int id, const void* address, int flags, const CallerFrame& caller) {
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

int Detach(const void* address, const CallerFrame& caller) {
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
  return Unmap(address, bytes, LEAKGATE_CALLER());
}

// The fifth argument exists only with some flags; otherwise the value in its place is passed on
// unused, as the C library does.
LEAKGATE_EXPORT void* mremap(void* address, std::size_t old_bytes, std::size_t new_bytes, int flags,
                             ...) noexcept {
  va_list rest;
  va_start(rest, flags);
  void* const new_address = va_arg(rest, void*);
  va_end(rest);
  return Remap({address, old_bytes, new_bytes, flags, new_address}, LEAKGATE_CALLER());
}

LEAKGATE_EXPORT int mprotect(void* address, std::size_t bytes, int protection) noexcept {
  const int result = ForwardMprotect(address, bytes, protection);
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
  return Attach(id, address, flags, LEAKGATE_CALLER());
}

LEAKGATE_EXPORT int shmdt(const void* address) noexcept {
  return Detach(address, LEAKGATE_CALLER());
}

LEAKGATE_EXPORT void* sbrk(std::intptr_t bytes) noexcept {
  const CallerFrame caller = LEAKGATE_CALLER();
  if (bytes <= 0) {
    const std::uint64_t wanted = CurrentBreak() + static_cast<std::uint64_t>(bytes);
    return MoveBreak(wanted, caller, [=] { return ForwardSbrk(bytes); });
  }
  if (!RecordsMappings(caller.pc)) return ForwardSbrk(bytes);
  BeforeMapping();
  void* const before = ForwardSbrk(bytes);
  if (before == kNoBreak) return before;
  // The range between two reads of the break is not used, because malloc moves the break on other
  // threads.
  const auto low = reinterpret_cast<std::uint64_t>(before);
  AfterMappingOfBreak(PagesBetween(low, low + static_cast<std::uint64_t>(bytes)), caller);
  return before;
}

LEAKGATE_EXPORT int brk(void* end) noexcept {
  return MoveBreak(reinterpret_cast<std::uint64_t>(end), LEAKGATE_CALLER(),
                   [=] { return ForwardBrk(end); });
}

namespace {

bool ChangesMappings(long number) {
  switch (number) {
    case SYS_mmap:
    case SYS_munmap:
    case SYS_mremap:
    case SYS_mprotect:
    case SYS_pkey_mprotect:
    case SYS_shmat:
    case SYS_shmdt:
    case SYS_brk:
      return true;
    default:
      return false;
  }
}

struct CallByNumber {
  long number;
  long a;
  long b;
  long c;
  long d;
  long e;
  long f;
};

// REQUIRES: ChangesMappings(call.number).
long ChangeMappings(const CallByNumber& call, const CallerFrame& caller) {
  void* const address = reinterpret_cast<void*>(call.a);
  const auto bytes = static_cast<std::size_t>(call.b);
  const auto result = [&] {
    return SystemCall(call.number, call.a, call.b, call.c, call.d, call.e, call.f);
  };
  switch (call.number) {
    case SYS_mmap:
      return Word(Map(nullptr,
                      {address, bytes, static_cast<int>(call.c), static_cast<int>(call.d),
                       static_cast<int>(call.e), call.f},
                      caller));
    case SYS_munmap:
      return Unmap(address, bytes, caller);
    case SYS_mremap:
      return Word(Remap({address, bytes, static_cast<std::size_t>(call.c), static_cast<int>(call.d),
                         reinterpret_cast<void*>(call.e)},
                        caller));
    case SYS_shmat:
      return Word(Attach(static_cast<int>(call.a), reinterpret_cast<void*>(call.b),
                         static_cast<int>(call.c), caller));
    case SYS_shmdt:
      return Detach(address, caller);
    case SYS_brk:
      return MoveBreak(static_cast<std::uint64_t>(call.a), caller, result);
    default:
      return Protect(address, bytes, static_cast<int>(call.c), caller, static_cast<int>(result()));
  }
}

long CallByNumberHere(long number, long a, long b, long c, long d, long e, long f) {
  const CallerFrame caller = LEAKGATE_CALLER();
  const CallByNumber call{number, a, b, c, d, e, f};
  const Inside inside;
  if (!inside.WasInside()) return ChangeMappings(call, caller);
  return SystemCall(number, a, b, c, d, e, f);
}

}  // namespace

// Calls that change no mapping are jumped to: some of them need the caller's frame.
extern "C" LEAKGATE_INTERNAL void* leakgate_choose_syscall(long number) {
  if (__builtin_expect(ChangesMappings(number), 0)) {
    return reinterpret_cast<void*>(&CallByNumberHere);
  }
  return reinterpret_cast<void*>(HostFunction(g_host.syscall, "syscall"));
}

LEAKGATE_CHOSEN_JUMP(syscall, leakgate_choose_syscall);
