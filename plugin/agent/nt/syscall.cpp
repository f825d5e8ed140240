#include "plugin/agent/nt/syscall.h"

#include <windows.h>

#include "common/region_layout.h"
#include "plugin/agent/nt/last_error.h"
#include "plugin/agent/nt/ntdll.h"

namespace leakgate::agent {
namespace {

constinit char* g_view = nullptr;  // of the whole section

// Which pieces MakeRoom has committed: not 0. The buffers of events follow the tables.
constexpr std::size_t kPieces = (region_offset::kChunks + kMaxEventBytes) / kMappingAlignment;
constinit std::atomic<std::uint8_t> g_has_room[kPieces] = {};

std::atomic<std::uint8_t>& HasRoomAt(std::uint64_t offset) {
  const bool is_table = offset < region_offset::kChunks;
  const std::uint64_t between = region_offset::kEvents - region_offset::kChunks;
  return g_has_room[(is_table ? offset : offset - between) / kMappingAlignment];
}

// Past the hooks, and without a change of the last error.
void* Allocate(void* at, std::size_t bytes, DWORD type) {
  const long status =
      g_ntdll.allocate_memory(::GetCurrentProcess(), &at, 0, &bytes, type, PAGE_READWRITE);
  return status >= 0 ? at : nullptr;
}
bool Commit(void* at, std::size_t bytes) { return Allocate(at, bytes, MEM_COMMIT) != nullptr; }
void Free(void* at, std::size_t bytes, DWORD type) {
  g_ntdll.free_memory(::GetCurrentProcess(), &at, &bytes, type);
}

}  // namespace

int CurrentTid() { return static_cast<int>(::GetCurrentThreadId()); }
int CurrentPid() { return static_cast<int>(::GetCurrentProcessId()); }

// A thread of lower priority may hold what this one waits for, and SwitchToThread alone would not
// let it run.
void YieldThread() {
  const LastErrorKeeper keeper;
  if (::SwitchToThread() == 0) ::Sleep(1);
}

bool AreOtherThreadsGone() { return g_ntdll.is_shutting_down() != 0; }

void* MapPrivate(std::size_t bytes) { return Allocate(nullptr, bytes, MEM_RESERVE | MEM_COMMIT); }

void Unmap(void* at, std::size_t) { Free(at, 0, MEM_RELEASE); }

char* MapSection(std::uint64_t section) {
  const auto handle = reinterpret_cast<HANDLE>(section);
  g_view = static_cast<char*>(::MapViewOfFile(handle, FILE_MAP_READ | FILE_MAP_WRITE, 0, 0, 0));
  ::CloseHandle(handle);
  return g_view;
}

void* MapSharedAt(void*, int, std::uint64_t offset, std::size_t bytes) {
  return Commit(g_view + offset, bytes) ? g_view + offset : nullptr;
}

void* MapSparseAt(void*, int, std::uint64_t offset, std::size_t) { return g_view + offset; }

bool MakeRoom(const void* at, std::size_t bytes) {
  if (bytes == 0) return true;
  const auto begin = static_cast<std::uint64_t>(static_cast<const char*>(at) - g_view);
  for (std::uint64_t i = begin / kMappingAlignment * kMappingAlignment; i < begin + bytes;
       i += kMappingAlignment) {
    std::atomic<std::uint8_t>& has_room = HasRoomAt(i);
    if (has_room.load(std::memory_order_relaxed) != 0) continue;
    // Two threads may do so at once: what is committed stays as it is.
    if (!Commit(g_view + i, kMappingAlignment)) return false;
    has_room.store(1, std::memory_order_relaxed);
  }
  return true;
}

void* MapFollowing(void* mapped, std::size_t bytes) {
  char* const following = static_cast<char*>(mapped) + bytes;
  return Commit(following, bytes) ? following : nullptr;
}

void* MapFollowingAt(void*, void* mapped, std::size_t bytes) { return MapFollowing(mapped, bytes); }

void ClearPages(void* at, std::size_t bytes) {
  Free(at, bytes, MEM_DECOMMIT);
  (void)Commit(at, bytes);
}

bool IsMapped(std::uint64_t address) {
  const LastErrorKeeper keeper;
  MEMORY_BASIC_INFORMATION facts;
  return ::VirtualQuery(reinterpret_cast<const void*>(address), &facts, sizeof(facts)) != 0 &&
         facts.State != MEM_FREE;
}

bool IsReadable(std::uintptr_t address) {
  const LastErrorKeeper keeper;
  MEMORY_BASIC_INFORMATION facts;
  constexpr DWORD kUnreadable = PAGE_NOACCESS | PAGE_GUARD | PAGE_EXECUTE;
  return ::VirtualQuery(reinterpret_cast<const void*>(address), &facts, sizeof(facts)) != 0 &&
         facts.State == MEM_COMMIT && (facts.Protect & kUnreadable) == 0;
}

bool WaitWhile(std::atomic<std::uint32_t>& word, std::uint32_t value, std::uint64_t) {
  const LastErrorKeeper keeper;
  if (word.load(std::memory_order_relaxed) == value) ::Sleep(1);
  return true;
}

}  // namespace leakgate::agent
