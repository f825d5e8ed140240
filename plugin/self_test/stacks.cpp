// Allocates from functions whose frames differ: of alloca, of exceptions, of virtual calls, of
// recursion, of large frames, of qsort's callbacks, on two threads. Each block gets the stack that
// the system's unwinder finds.
#include <windows.h>

#include <cstdlib>
#include <memory>
#include <stdexcept>

#include "common/nt_self_test.h"
#include "plugin/self_test/self_test.h"

#define LEAKGATE_APART __attribute__((noinline))

namespace leakgate::self_test {
namespace {

LEAKGATE_APART void Leave() {
  auto* const seen =
      static_cast<SeenStack*>(::HeapAlloc(::GetProcessHeap(), HEAP_ZERO_MEMORY, sizeof(SeenStack)));
  void* pcs[kSeenMost];
  seen->count = ::RtlCaptureStackBackTrace(0, kSeenMost, pcs, nullptr);
  for (std::uint64_t i = 0; i < seen->count; ++i) {
    seen->pcs[i] = reinterpret_cast<std::uint64_t>(pcs[i]);
  }
}

LEAKGATE_APART void WithAlloca(std::size_t bytes) {
  auto* const memory = static_cast<volatile char*>(__builtin_alloca(bytes));
  memory[0] = 1;
  Leave();
  memory[bytes - 1] = 2;
}

LEAKGATE_APART int Recurse(int depth) {
  volatile char room[48];
  room[0] = static_cast<char>(depth);
  Leave();
  return depth == 0 ? 0 : Recurse(depth - 1) + room[0];
}

LEAKGATE_APART void LargeFrame() {
  volatile char room[20'000];
  room[0] = 1;
  Leave();
  room[19'999] = room[0];
}

struct Shape {
  virtual ~Shape() = default;
  virtual void Draw(int n) { WithAlloca(static_cast<std::size_t>(n % 300) + 8); }
};
struct Circle : Shape {
  void Draw(int n) override {
    Shape::Draw(n + 1);
    Leave();
  }
};

LEAKGATE_APART void Throw(int n) {
  const std::unique_ptr<Shape> shape = std::make_unique<Circle>();
  shape->Draw(n);
  if (n % 3 == 0) throw std::runtime_error("thrown on purpose");
}

int Compare(const void* a, const void* b) {
  Leave();
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}

DWORD WINAPI Work(void*) {
  for (int i = 0; i < 100; ++i) {
    WithAlloca(static_cast<std::size_t>(16 + i % 300));
    Recurse(i % 30);
    LargeFrame();
    try {
      Throw(i);
    } catch (const std::exception&) {
      Leave();
    }
    int values[] = {5, 3, i, 1, 4};
    std::qsort(values, 5, sizeof(int), Compare);
  }
  return 0;
}

// Its name is kInlinedFunction. The line of the call and of __LINE__ must be one.
inline __attribute__((always_inline)) void AllocateInlined() {
  const HANDLE heap = ::GetProcessHeap();
  constexpr std::size_t kBytes = sizeof(SeenLine);
  static_cast<SeenLine*>(::HeapAlloc(heap, HEAP_ZERO_MEMORY, kBytes))->line = __LINE__;
}

LEAKGATE_APART void LeaveLine() {
  AllocateInlined();
  Leave();
}

}  // namespace

void LeaveStacks() {
  const HANDLE thread = ::CreateThread(nullptr, 0, Work, nullptr, 0, nullptr);
  Work(nullptr);
  ::WaitForSingleObject(thread, INFINITE);
  LeaveLine();
}

}  // namespace leakgate::self_test
