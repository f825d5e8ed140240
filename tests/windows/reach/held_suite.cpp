// A suite whose tests leave blocks: what something holds in another way each, and what is lost.
#include <gtest/gtest.h>
#include <windows.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>

#include "plugin/self_test/high_heap.h"

namespace {

void* volatile g_global;
thread_local void* volatile t_local;
const DWORD g_slot = ::TlsAlloc();
const DWORD g_fls = ::FlsAlloc(nullptr);

std::map<int, std::string>& Cache() {
  static std::map<int, std::string> cache;
  return cache;
}

HANDLE HighHeap() {
  static const HANDLE heap = MakeHighHeap(1 << 20);
  return heap;
}

// So large that no freed memory has pointers to what was there before.
constexpr std::size_t kFresh = 50'000;
__attribute__((noinline)) void* Fresh() {
  return ::HeapAlloc(HighHeap(), HEAP_ZERO_MEMORY, kFresh);
}

__attribute__((noinline)) void Lose() {
  void* volatile block = Fresh();
  block = nullptr;
}

__attribute__((noinline)) void LoseChain() {
  void** volatile first = static_cast<void**>(Fresh());
  first[0] = Fresh();
  first = nullptr;
}

__attribute__((noinline)) void LoseCycle() {
  void** volatile first = static_cast<void**>(Fresh());
  void** volatile second = static_cast<void**>(Fresh());
  first[1] = second;
  second[2] = first;
  first = second = nullptr;
}

// Where a heap has freed memory, it overwrites the first words only.
constexpr int kDeepInside = 20;
__attribute__((noinline)) void LeaveInFreedMemory(HANDLE heap) {
  void** volatile list = static_cast<void**>(::HeapAlloc(heap, HEAP_ZERO_MEMORY, 4000));
  list[kDeepInside] = Fresh();
  ::HeapFree(heap, 0, list);
  list = nullptr;
}

// Locks a heap by a thread that never lets it go, which is returned.
HANDLE LockForGood(HANDLE heap) {
  static HANDLE ready;
  ready = ::CreateEventW(nullptr, FALSE, FALSE, nullptr);
  const HANDLE thread = ::CreateThread(
      nullptr, 0,
      [](void* of) -> DWORD {
        ::HeapLock(of);
        ::SetEvent(ready);
        ::Sleep(INFINITE);
        return 0;
      },
      heap, 0, nullptr);
  ::WaitForSingleObject(ready, INFINITE);
  return thread;
}

// Returns a heap that a walk takes long to go through.
HANDLE LongHeap() {
  const HANDLE heap = ::HeapCreate(0, 0, 0);
  for (int i = 0; i < 5'000; ++i) ::HeapAlloc(heap, 0, 16);
  return heap;
}

// A thread that has a heap's lock nearly all the time, as any function of heaps takes it.
class Validation {
 public:
  explicit Validation(HANDLE heap)
      : heap_(heap), thread_(::CreateThread(nullptr, 0, Run, this, 0, nullptr)) {}
  void Stop() {
    is_wanted_ = false;
    ::WaitForSingleObject(thread_, INFINITE);
  }
  // Ends the thread where it is.
  void Kill() {
    ::Sleep(20);
    ::TerminateThread(thread_, 0);
    ::WaitForSingleObject(thread_, INFINITE);
  }

 private:
  static DWORD WINAPI Run(void* validation) {
    const auto& self = *static_cast<Validation*>(validation);
    while (self.is_wanted_) ::HeapValidate(self.heap_, 0, nullptr);
    return 0;
  }
  const HANDLE heap_;
  volatile bool is_wanted_ = true;
  const HANDLE thread_;
};

// Returns whether nobody ever gets the heap's lock again.
bool IsLockedForGood(HANDLE heap) {
  const HANDLE thread = ::CreateThread(
      nullptr, 0,
      [](void* of) -> DWORD { return ::HeapFree(of, 0, ::HeapAlloc(of, 0, 16)) != 0 ? 0 : 1; },
      heap, 0, nullptr);
  return ::WaitForSingleObject(thread, 2000) == WAIT_TIMEOUT;
}

// Overwrites what ended functions have left on the stack, and what Wine has left on its own when
// the heap grew.
__attribute__((noinline)) void Scrub() {
  volatile char bytes[16384];
  for (volatile char& byte : bytes) byte = 0;
  for (int i = 1; i < 4; ++i) {
    void* volatile block = std::malloc(static_cast<std::size_t>(i) * 150'000);
    std::free(block);
  }
}

}  // namespace

TEST(Held, Global) { g_global = std::malloc(100); }
TEST(Held, ThreadLocal) { t_local = std::malloc(100); }
TEST(Held, TlsSlot) { ::TlsSetValue(g_slot, std::malloc(100)); }
TEST(Held, FlsSlot) { ::FlsSetValue(g_fls, std::malloc(100)); }
TEST(Held, Map) {
  for (int i = 0; i < 10; ++i) Cache()[i] = std::string(100, 'x');
}
TEST(Held, VirtualAlloc) {
  auto** const pages =
      static_cast<void**>(::VirtualAlloc(nullptr, 4096, MEM_COMMIT | MEM_RESERVE, PAGE_READWRITE));
  pages[100] = std::malloc(100);
}
TEST(Held, Calloc) {
  static void* volatile block;
  block = std::calloc(3, 77);
}
TEST(Held, NewArray) {
  static char* volatile block;
  block = new char[99];
}
TEST(Held, OtherHeap) {
  static void* volatile block;
  block = ::HeapAlloc(::HeapCreate(0, 0, 0), HEAP_ZERO_MEMORY, 64);
  *static_cast<void**>(block) = std::malloc(33);
}
TEST(Held, OtherStack) {
  const HANDLE ready = ::CreateEventW(nullptr, FALSE, FALSE, nullptr);
  std::thread([ready] {
    void* volatile block = std::malloc(50);
    ::SetEvent(ready);
    ::Sleep(INFINITE);
    std::free(block);
  }).detach();
  ::WaitForSingleObject(ready, INFINITE);
}
TEST(Lost, One) {
  Lose();
  Scrub();
}
TEST(Lost, Chain) {
  LoseChain();
  Scrub();
}
TEST(Lost, Cycle) {
  LoseCycle();
  Scrub();
}
TEST(Lost, InFreedMemory) {
  LeaveInFreedMemory(HighHeap());
  Scrub();
}
TEST(Lost, InFreedMemoryOfTheProcessHeap) {
  LeaveInFreedMemory(::GetProcessHeap());
  Scrub();
}
TEST(Locked, Heap) {
  const HANDLE heap = ::HeapCreate(0, 1 << 16, 0);
  g_global = ::HeapAlloc(heap, 0, 100);  // a block is recorded there
  LeaveInFreedMemory(heap);
  LockForGood(heap);
  Scrub();
}
TEST(Locked, HeapWithoutLock) {
  const HANDLE heap = ::HeapCreate(HEAP_NO_SERIALIZE, 1 << 16, 0);
  g_global = ::HeapAlloc(heap, 0, 100);
  LeaveInFreedMemory(heap);
  Scrub();
}
Validation* g_validation = nullptr;
TEST(Locked, HeapThatAThreadValidates) {
  static Validation validation(LongHeap());
  g_validation = &validation;
  Lose();
  Scrub();
}
TEST(Locked, HeapThatAThreadHasValidated) { g_validation->Stop(); }
TEST(Framework, FailedAssertion) {
  SCOPED_TRACE("kept");
  EXPECT_TRUE(false);
}

TEST(Killed, InAFunctionOfAHeap) {
  HANDLE heap = nullptr;
  do {
    heap = LongHeap();
    LeaveInFreedMemory(heap);
    Validation(heap).Kill();
  } while (!IsLockedForGood(heap));
  Scrub();
}
TEST(Killed, WithALock) {
  const HANDLE heap = ::HeapCreate(0, 1 << 16, 0);
  ::HeapAlloc(heap, 0, 100);
  LeaveInFreedMemory(heap);
  const HANDLE thread = LockForGood(heap);
  ::TerminateThread(thread, 0);
  ::WaitForSingleObject(thread, INFINITE);
  Scrub();
}
TEST(Killed, BeforeItsHeapIsDestroyed) {
  const HANDLE heap = ::HeapCreate(0, 0, 0);
  ::HeapAlloc(heap, 0, 100);
  const HANDLE thread = LockForGood(heap);
  ::TerminateThread(thread, 0);
  ::WaitForSingleObject(thread, INFINITE);
  ::HeapDestroy(heap);
}
TEST(Killed, BeforeOthersAreLost) {
  Lose();
  Scrub();
}

// The last one: while there is a window, nothing counts as lost.
TEST(HeldByWindow, UserData) {
  const HMODULE user = ::LoadLibraryW(L"user32.dll");
  const auto create = reinterpret_cast<decltype(&::CreateWindowExW)>(
      reinterpret_cast<void*>(::GetProcAddress(user, "CreateWindowExW")));
  const auto set = reinterpret_cast<decltype(&::SetWindowLongPtrW)>(
      reinterpret_cast<void*>(::GetProcAddress(user, "SetWindowLongPtrW")));
  const HWND window =
      create(0, L"STATIC", L"", 0, 0, 0, 0, 0, HWND_MESSAGE, nullptr, nullptr, nullptr);
  if (window == nullptr) GTEST_SKIP() << "there are no windows here";
  set(window, GWLP_USERDATA, reinterpret_cast<LONG_PTR>(Fresh()));
  Scrub();
}
