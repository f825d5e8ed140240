// Leaves blocks that something holds, each in another way, and blocks that nothing holds.
#include <windows.h>

#include <cstdint>
#include <cstdlib>

#include "common/nt_self_test.h"
#include "plugin/self_test/high_heap.h"
#include "plugin/self_test/self_test.h"

#define LEAKGATE_APART __attribute__((noinline))

namespace leakgate::self_test {
namespace {

void* volatile g_global;
thread_local void* volatile t_local;
void** volatile g_block;

LEAKGATE_APART void* Make(std::uint64_t index) { return std::calloc(1, SizeOf(index)); }

void** Pages() {
  return static_cast<void**>(
      ::VirtualAlloc(nullptr, 8192, MEM_COMMIT | MEM_RESERVE, PAGE_READWRITE));
}

DWORD WINAPI HoldOnStack(void* is_ready) {
  void* volatile held = Make(9);
  ::SetEvent(is_ready);
  ::Sleep(INFINITE);
  std::free(held);
  return 0;
}

LEAKGATE_APART void Hold() {
  g_global = Make(0);
  t_local = Make(1);
  ::TlsSetValue(::TlsAlloc(), Make(2));
  ::FlsSetValue(::FlsAlloc(nullptr), Make(3));
  g_block = static_cast<void**>(std::calloc(100, sizeof(void*)));
  g_block[50] = Make(4);
  Pages()[100] = Make(5);
  const HANDLE section =
      ::CreateFileMappingW(INVALID_HANDLE_VALUE, nullptr, PAGE_READWRITE, 0, 4096, nullptr);
  static_cast<void**>(::MapViewOfFile(section, FILE_MAP_WRITE, 0, 0, 0))[7] = Make(6);
  void** const read_only = Pages();
  read_only[9] = Make(7);
  DWORD before = 0;
  ::VirtualProtect(read_only, 8192, PAGE_READONLY, &before);
  static void* volatile other;
  other = ::HeapAlloc(::HeapCreate(0, 0, 0), HEAP_ZERO_MEMORY, 64);
  *static_cast<void**>(other) = Make(8);
  const HANDLE ready = ::CreateEventW(nullptr, FALSE, FALSE, nullptr);
  ::CreateThread(nullptr, 0, HoldOnStack, ready, 0, nullptr);
  ::WaitForSingleObject(ready, INFINITE);
}

LEAKGATE_APART void** MakeLost(HANDLE heap, std::uint64_t index) {
  constexpr std::uint64_t kHeld = sizeof(kHeldBy) / sizeof(kHeldBy[0]);
  return static_cast<void**>(::HeapAlloc(heap, HEAP_ZERO_MEMORY, SizeOf(kHeld + index)));
}

LEAKGATE_APART void Lose(HANDLE heap) {
  void** volatile block = MakeLost(heap, 0);
  block = MakeLost(heap, 1);
  block[3] = MakeLost(heap, 2);
  void** volatile other = MakeLost(heap, 3);
  block = MakeLost(heap, 4);
  block[1] = other;
  other[2] = block;
  block = other = nullptr;
}

// Overwrites what ended functions have left on the stack, and what Wine has left on its own when
// the heap grew.
LEAKGATE_APART void Scrub() {
  volatile char bytes[16384];
  for (volatile char& byte : bytes) byte = 0;
  for (std::size_t i = 1; i < 4; ++i) {
    void* volatile block = std::malloc(i * 150'001);
    std::free(block);
  }
}

}  // namespace

void LeaveHeldAndLost() {
  const HANDLE heap = MakeHighHeap(4 << 20);
  Hold();
  Lose(heap);
  Scrub();
}

}  // namespace leakgate::self_test
