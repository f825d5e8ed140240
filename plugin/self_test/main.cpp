// The program that `leakgate doctor --self-test` traces: allocates in all ways that leakgate takes
// for granted on Windows, one case for each start (common/nt_self_test.h). Exits with 0 once it has
// done so.
#include <windows.h>
// Behind the above.
#include <combaseapi.h>
#include <oleauto.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <new>

#include "common/nt_self_test.h"
#include "leakgate/agent.h"
#include "leakgate/system.h"
#include "plugin/self_test/self_test.h"

// Of the library that this program imports.
extern "C" __declspec(dllimport) void leakgate_self_test_leave();

namespace leakgate::self_test {
namespace {

constexpr int kNoWindow = 3;

void* volatile g_kept[64];

template <typename Function>
Function* Find(HMODULE library, const char* name) {
  return reinterpret_cast<Function*>(reinterpret_cast<void*>(::GetProcAddress(library, name)));
}

int LoadLate() {
  const HMODULE library = ::LoadLibraryW(L"leakgate_self_test_late.dll");
  if (library == nullptr) return 4;
  Find<void()>(library, "leakgate_self_test_leave")();
  const HMODULE kernel32 = ::GetModuleHandleW(L"kernel32.dll");
  const auto allocate = Find<void * WINAPI(HANDLE, DWORD, SIZE_T)>(kernel32, "HeapAlloc");
  g_kept[0] = allocate(::GetProcessHeap(), 0, SizeOf(1));
  const HMODULE runtime = ::LoadLibraryW(L"ucrtbase.dll");
  if (runtime == nullptr) return 5;
  g_kept[1] = Find<void*(std::size_t)>(runtime, "malloc")(SizeOf(2));
  return 0;
}

struct Calls {
  void* (*allocate)(std::size_t bytes);
  void (*free)(void* block);
};
const Calls kCalls[] = {
    {[](std::size_t n) { return std::malloc(n); }, std::free},
    {[](std::size_t n) { return std::calloc(1, n); }, std::free},
    {[](std::size_t n) { return std::realloc(std::malloc(n / 3), n); }, std::free},
    {[](std::size_t n) { return ::operator new(n); }, [](void* p) { ::operator delete(p); }},
    {[](std::size_t n) -> void* { return ::HeapAlloc(::GetProcessHeap(), 0, n); },
     [](void* p) { ::HeapFree(::GetProcessHeap(), 0, p); }},
    {[](std::size_t n) -> void* {
       const HANDLE heap = ::GetProcessHeap();
       return ::HeapReAlloc(heap, 0, ::HeapAlloc(heap, 0, n * 2), n);
     },
     [](void* p) { ::HeapFree(::GetProcessHeap(), 0, p); }},
    {[](std::size_t n) -> void* { return ::LocalAlloc(LMEM_FIXED, n); },
     [](void* p) { ::LocalFree(p); }},
    {[](std::size_t n) -> void* { return ::GlobalAlloc(GMEM_FIXED, n); },
     [](void* p) { ::GlobalFree(p); }},
    {[](std::size_t n) -> void* { return ::CoTaskMemAlloc(n); },
     [](void* p) { ::CoTaskMemFree(p); }},
    {[](std::size_t n) -> void* { return ::SysAllocStringLen(nullptr, static_cast<UINT>(n / 2)); },
     [](void* p) { ::SysFreeString(static_cast<BSTR>(p)); }},
};
static_assert(std::size(kCalls) == std::size(kFunctions));

int CallFunctions() {
  for (std::size_t i = 0; i < std::size(kCalls); ++i) {
    g_kept[i] = kCalls[i].allocate(SizeOf(i));
    void* volatile freed = kCalls[i].allocate(SizeOf(i) + kFreedMore);
    kCalls[i].free(freed);
  }
  return 0;
}

// What a program gets by HeapCreate where the segment heap is asked for.
constexpr DWORD kSegmentHeap = 0x100;

int AllocateSmall() {
  const HANDLE heaps[kSmallHeaps] = {::GetProcessHeap(), ::HeapCreate(0, 0, 0),
                                     ::HeapCreate(kSegmentHeap, 0, 0)};
  for (const HANDLE heap : heaps) {
    for (std::uint64_t i = 0; i < kSmallEach; ++i) {
      for (std::uint64_t size = 1; size <= kSmallMost; ++size) {
        void* const block = ::HeapAlloc(heap, 0, size);
        if (block == nullptr || reinterpret_cast<std::uintptr_t>(block) % 16 != 0) return 6;
        if (i % 2 == 1) ::HeapFree(heap, 0, block);
      }
    }
  }
  return 0;
}

int End() {
  for (std::uint64_t i = 0; i < kKilledBlocks; ++i) g_kept[0] = std::malloc(SizeOf(0));
  ::TerminateProcess(::GetCurrentProcess(), kKilledExit);
  return 0;
}

// Runs a case within a test's window, at the end of which the runner looks.
template <typename Run>
int InWindow(Run run) {
  const LeakgateAgent* const agent = internal::FindAgent(LEAKGATE_AGENT_WITH_WINDOWS);
  if (agent == nullptr) return kNoWindow;
  agent->attach_listener();
  const LeakgateWindow window = {LEAKGATE_WINDOW_TEST, "SelfTest.Case", nullptr, 0, 1};
  const unsigned id = agent->open_window(&window);
  const int exit_code = run();
  (void)agent->close_window(id, LEAKGATE_RESULT_PASSED);
  return exit_code;
}

int RunCase(const char* name) {
  const auto is = [name](const char* other) { return std::strcmp(name, other) == 0; };
  if (is(kFirstCase)) return 0;
  if (is(kLateCase)) return LoadLate();
  if (is(kFunctionsCase)) return CallFunctions();
  if (is(kSmallCase)) return InWindow(AllocateSmall);
  if (is(kStacksCase)) return InWindow([] { return LeaveStacks(), 0; });
  if (is(kReachCase)) return InWindow([] { return LeaveHeldAndLost(), 0; });
  if (is(kMappingsCase)) return LeaveMappings();
  if (is(kEventsCase)) return MakeEvents(), 0;
  if (is(kKilledCase)) return End();
  leakgate_self_test_leave();  // so that the library is imported
  return 2;
}

}  // namespace
}  // namespace leakgate::self_test

int main(int argc, char** argv) { return argc == 2 ? leakgate::self_test::RunCase(argv[1]) : 2; }
