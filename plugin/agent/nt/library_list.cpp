#include "plugin/agent/nt/library_list.h"

#include <windows.h>
#include <winternl.h>

#include <atomic>

#include "plugin/agent/nt/image.h"
#include "plugin/agent/nt/ntdll.h"

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

const char* KeepPath(const UNICODE_STRING& path) {
  const int letters = path.Length / static_cast<int>(sizeof(wchar_t));
  const auto most = static_cast<std::size_t>(letters) * 3 + 1;  // in UTF-8
  if (g_pool_left < most) {
    const std::size_t bytes = most < kPoolBytes ? kPoolBytes : most;
    g_pool = static_cast<char*>(
        ::VirtualAlloc(nullptr, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE));
    g_pool_left = g_pool == nullptr ? 0 : bytes;
    if (g_pool == nullptr) return "";
  }
  const int length = ::WideCharToMultiByte(CP_UTF8, 0, path.Buffer, letters, g_pool,
                                           static_cast<int>(most) - 1, nullptr, nullptr);
  const char* const kept = g_pool;
  const std::size_t used = static_cast<std::size_t>(length < 0 ? 0 : length) + 1;
  g_pool[used - 1] = '\0';
  g_pool += used;
  g_pool_left -= used;
  return kept;
}

void Add(std::uint64_t base, std::uint64_t bytes, const UNICODE_STRING& path) {
  const std::uint32_t count = g_count.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (g_entries[i].begin.load(std::memory_order_relaxed) == base) return;
  }
  if (count == kMostEntries) return;
  Entry& entry = g_entries[count];
  entry.end = base + bytes;
  entry.path = KeepPath(path);
  entry.begin.store(base, std::memory_order_release);
  g_count.store(count + 1, std::memory_order_release);
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
