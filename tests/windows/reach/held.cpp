// Makes blocks that something holds, each in another way, and blocks that are lost. Prints "NAME
// ADDRESS SIZE" for each block, addresses with all bits turned over, then "ready", and waits until
// its input ends.
#include <windows.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

namespace {

void* volatile g_global;
void* g_in_other_heap;
thread_local void* t_local;

constexpr std::size_t kBytes = 200;

// Prints it without leaving the address anywhere.
__attribute__((noinline)) void Tell(const char* name, const void* block, std::size_t bytes) {
  std::printf("%s %llu %zu\n", name,
              static_cast<unsigned long long>(~reinterpret_cast<std::uintptr_t>(block)), bytes);
}

__attribute__((noinline)) void* Make(const char* name) {
  void* const block = std::calloc(1, kBytes);
  Tell(name, block, kBytes);
  return block;
}

__attribute__((noinline)) void Lose() {
  Make("lost-one");
  auto** const chain = static_cast<void**>(Make("lost-chain"));
  chain[3] = Make("lost-chain-2");
  auto** const cycle = static_cast<void**>(Make("lost-cycle"));
  auto** const other = static_cast<void**>(Make("lost-cycle-2"));
  cycle[1] = other;
  other[2] = cycle;
}

// Overwrites what ended functions have left on the stack.
__attribute__((noinline)) void Scrub() {
  volatile char bytes[16384];
  for (volatile char& byte : bytes) byte = 0;
}

DWORD WINAPI HoldOnStack(void* is_ready) {
  void* volatile held = Make("held-other-stack");
  ::SetEvent(is_ready);
  ::Sleep(INFINITE);
  std::free(held);
  return 0;
}

__attribute__((noinline)) void HoldAll() {
  g_global = Make("held-global");
  t_local = Make("held-thread-local");
  ::TlsSetValue(::TlsAlloc(), Make("held-tls"));
  ::FlsSetValue(::FlsAlloc(nullptr), Make("held-fls"));
  static std::map<int, void*> map;
  for (int i = 0; i < 3; ++i) map[i] = Make("map-value");
  auto** const pages =
      static_cast<void**>(::VirtualAlloc(nullptr, 8192, MEM_COMMIT | MEM_RESERVE, PAGE_READWRITE));
  pages[100] = Make("held-virtual-alloc");
  const HANDLE section =
      ::CreateFileMappingW(INVALID_HANDLE_VALUE, nullptr, PAGE_READWRITE, 0, 4096, nullptr);
  static_cast<void**>(::MapViewOfFile(section, FILE_MAP_WRITE, 0, 0, 0))[7] = Make("held-section");
  auto** const read_only =
      static_cast<void**>(::VirtualAlloc(nullptr, 4096, MEM_COMMIT | MEM_RESERVE, PAGE_READWRITE));
  read_only[9] = Make("held-read-only");
  DWORD before = 0;
  ::VirtualProtect(read_only, 4096, PAGE_READONLY, &before);
  // Of a heap of its own, the blocks of which nobody tells the runner: as ntdll's own.
  g_in_other_heap = ::HeapAlloc(::HeapCreate(0, 0, 0), HEAP_ZERO_MEMORY, 64);
  *static_cast<void**>(g_in_other_heap) = Make("held-other-heap");
  // In the same heap, in a block of which nobody tells the runner.
  void** const unseen =
      static_cast<void**>(::HeapAlloc(::GetProcessHeap(), HEAP_ZERO_MEMORY, 4000));
  unseen[11] = Make("held-unseen");
  static volatile char unaligned[32];
  void* const block = Make("held-unaligned");
  std::memcpy(const_cast<char*>(unaligned) + 3, &block, sizeof block);
  static volatile std::uintptr_t tagged;
  tagged = reinterpret_cast<std::uintptr_t>(Make("held-tagged")) | std::uintptr_t{0xABCD} << 48;
  const HANDLE ready = ::CreateEventW(nullptr, FALSE, FALSE, nullptr);
  ::CreateThread(nullptr, 0, HoldOnStack, ready, 0, nullptr);
  ::WaitForSingleObject(ready, INFINITE);
}

}  // namespace

int main() {
  static char buffer[65536];  // what is printed is not on the heap
  std::setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
  HoldAll();
  Scrub();
  Lose();
  Scrub();
  std::puts("ready");
  std::fflush(stdout);
  std::memset(buffer, 0, sizeof buffer);
  ::Sleep(60'000);
  return 0;
}
