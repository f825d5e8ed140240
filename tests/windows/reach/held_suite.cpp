// A suite whose tests leave blocks: what something holds in another way each, and what is lost.
#include <gtest/gtest.h>
#include <windows.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <thread>

namespace {

void* volatile g_global;
thread_local void* volatile t_local;
const DWORD g_slot = ::TlsAlloc();
const DWORD g_fls = ::FlsAlloc(nullptr);

std::map<int, std::string>& Cache() {
  static std::map<int, std::string> cache;
  return cache;
}

// So large that no freed memory has pointers to what was there before.
constexpr std::size_t kFresh = 50'000;

__attribute__((noinline)) void Lose(std::size_t bytes) {
  void* volatile block = std::malloc(bytes);
  block = nullptr;
}

__attribute__((noinline)) void LoseChain() {
  void** volatile first = static_cast<void**>(std::calloc(1, kFresh));
  first[0] = std::malloc(kFresh);
  first = nullptr;
}

struct Node {
  char bytes[kFresh];
  std::shared_ptr<Node> next;
};
__attribute__((noinline)) void LoseCycle() {
  const auto first = std::make_shared<Node>();
  first->next = std::make_shared<Node>();
  first->next->next = first;
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
  Lose(kFresh);
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
TEST(Framework, FailedAssertion) {
  SCOPED_TRACE("kept");
  EXPECT_TRUE(false);
}
