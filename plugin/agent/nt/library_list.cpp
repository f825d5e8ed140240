#include "plugin/agent/nt/library_list.h"

#include <windows.h>
#include <winternl.h>

#include <atomic>
#include <cstring>

#include "plugin/agent/nt/image.h"
#include "plugin/agent/nt/memory_maps.h"
#include "plugin/agent/nt/ntdll.h"
#include "plugin/agent/nt/syscall.h"

namespace leakgate::agent {

void (*g_on_library_gone)() = nullptr;

namespace {

struct Entry {
  std::atomic<std::uint64_t> begin;  // 0: gone; release, after the rest
  std::uint64_t end;
  const char* path;
};

constexpr std::uint32_t kMostEntries = kMaxModules;
constinit Entry g_entries[kMostEntries] = {};
constinit std::atomic<std::uint32_t> g_count{0};  // release, once the entry is there

// The paths, one after the other, each with its NUL.
constexpr std::size_t kPoolBytes = 1 << 16;
constinit char* g_pool = nullptr;
constinit std::size_t g_pool_left = 0;

// Returns memory for a path; nullptr if there is none.
char* TakeFromPool(std::size_t bytes) {
  if (g_pool_left < bytes) {
    const std::size_t wanted = bytes < kPoolBytes ? kPoolBytes : bytes;
    g_pool = static_cast<char*>(MapPrivate(wanted));
    g_pool_left = g_pool == nullptr ? 0 : wanted;
    if (g_pool == nullptr) return nullptr;
  }
  char* const taken = g_pool;
  g_pool += bytes;
  g_pool_left -= bytes;
  return taken;
}

constinit PathBuffer g_path = {};  // of the library that comes at the moment

// A library that comes again has the path that it had.
const char* KeepPath(const UNICODE_STRING& path) {
  const int letters = path.Length / static_cast<int>(sizeof(wchar_t));
  const int length = ::WideCharToMultiByte(CP_UTF8, 0, path.Buffer, letters, g_path.text,
                                           sizeof(g_path.text) - 1, nullptr, nullptr);
  g_path.text[length] = '\0';
  const std::size_t bytes = static_cast<std::size_t>(length) + 1;
  for (std::uint32_t i = g_count.load(std::memory_order_relaxed); i > 0; --i) {
    const char* const known = g_entries[i - 1].path;
    if (std::strlen(known) + 1 == bytes && std::memcmp(known, g_path.text, bytes) == 0)
      return known;
  }
  char* const kept = TakeFromPool(bytes);
  if (kept == nullptr) return "";
  std::memcpy(kept, g_path.text, bytes);
  return kept;
}

// Returns where the next library goes: in the place of one that has gone, where there is no other.
// Returns kMostEntries if all are there.
std::uint32_t FindPlace() {
  const std::uint32_t count = g_count.load(std::memory_order_relaxed);
  if (count < kMostEntries) return count;
  std::uint32_t place = 0;
  while (place < count && g_entries[place].begin.load(std::memory_order_relaxed) != 0) ++place;
  return place;
}

void Add(std::uint64_t base, std::uint64_t bytes, const UNICODE_STRING& path) {
  const std::uint32_t count = g_count.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (g_entries[i].begin.load(std::memory_order_relaxed) == base) return;
  }
  const std::uint32_t place = FindPlace();
  if (place == kMostEntries) return;
  Entry& entry = g_entries[place];
  entry.end = base + bytes;
  entry.path = KeepPath(path);
  entry.begin.store(base, std::memory_order_release);
  if (place == count) g_count.store(count + 1, std::memory_order_release);
}

void Remove(std::uint64_t base) {
  const std::uint32_t count = g_count.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (g_entries[i].begin.load(std::memory_order_relaxed) == base) {
      g_entries[i].begin.store(0, std::memory_order_release);
    }
  }
}

// As Learn documents them for LdrRegisterDllNotification.
constexpr ULONG kLoaded = 1;
struct Notice {
  ULONG flags;
  const UNICODE_STRING* full_name;
  const UNICODE_STRING* base_name;
  void* base;
  ULONG bytes;
};

void CALLBACK OnNotice(ULONG reason, const Notice* notice, void*) {
  const auto base = reinterpret_cast<std::uint64_t>(notice->base);
  if (reason == kLoaded) return Add(base, notice->bytes, *notice->full_name);
  Remove(base);
  if (g_on_library_gone != nullptr) g_on_library_gone();
}

// winternl.h has these members, and the process's block that leads to the list.
void AddThoseLoaded() {
  const auto* const block = reinterpret_cast<const TEB*>(NtCurrentTeb())->ProcessEnvironmentBlock;
  const LIST_ENTRY* const head = &block->Ldr->InMemoryOrderModuleList;
  for (const LIST_ENTRY* at = head->Flink; at != head; at = at->Flink) {
    const auto& loaded = *CONTAINING_RECORD(at, LDR_DATA_TABLE_ENTRY, InMemoryOrderLinks);
    const auto base = reinterpret_cast<std::uint64_t>(loaded.DllBase);
    Add(base, Image(base).bytes(), loaded.FullDllName);
  }
}

}  // namespace

bool StartLibraryList() {
  void* cookie = nullptr;
  if (g_ntdll.notify_of_libraries(0, reinterpret_cast<void*>(&OnNotice), nullptr, &cookie) != 0) {
    return false;
  }
  AddThoseLoaded();
  return true;
}

// From the newest: another may have been at the same place.
Library FindLibrary(std::uint64_t address) {
  for (std::uint32_t i = g_count.load(std::memory_order_acquire); i > 0; --i) {
    const Entry& entry = g_entries[i - 1];
    const std::uint64_t begin = entry.begin.load(std::memory_order_acquire);
    if (begin != 0 && address >= begin && address < entry.end)
      return {begin, entry.end, entry.path};
  }
  return {};
}

void ForEachLibrary(void (*use)(std::uint64_t base)) {
  for (std::uint32_t i = 0; i < g_count.load(std::memory_order_relaxed); ++i) {
    const std::uint64_t begin = g_entries[i].begin.load(std::memory_order_relaxed);
    if (begin != 0) use(begin);
  }
}

}  // namespace leakgate::agent
