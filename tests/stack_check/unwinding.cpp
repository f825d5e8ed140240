// Allocates from every kind of frame that a stack can run through. Each test
// asserts only that leakgate recorded something; whether the stacks were right
// is for the checking agent that it runs under.
#include <alloca.h>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <search.h>
#include <sys/mman.h>
#include <threads.h>
#include <ucontext.h>

#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/stack_check/coroutine.h"
#include "tests/stack_check/own_region.h"

extern "C" void WalkFromPreservedRegisterFrame(void (*function)(void*), void* argument);
extern "C" void WalkFromExpressionFrame(void (*function)(void*), void* argument);
extern "C" void WalkFromSignedFrame(void (*function)(void*), void* argument);
extern "C" void CallStepByStep(void (*function)(void*), void* argument);

namespace leakgate::check {
namespace {

// Opaque to the optimiser.
template <typename T>
void Keep(T* pointer) {
  asm volatile("" : : "r"(pointer) : "memory");
}

__attribute__((noinline)) void AllocateHere() {
  void* const block = std::malloc(100);
  Keep(block);
  std::free(block);
}

void AllocateInto(void*) { AllocateHere(); }

class UnwindingTest : public ::testing::Test {
 protected:
  void SetUp() override { before_ = RecordedAllocations(); }
  void TearDown() override { EXPECT_GT(RecordedAllocations(), before_); }

 private:
  std::uint64_t before_ = 0;
};

TEST_F(UnwindingTest, InTheSharedCppRuntime) {
  const std::string text(100, 'x');
  const std::locale locale(std::locale(), new std::numpunct<char>);
  std::ostringstream stream;
  stream.imbue(locale);
  stream << text << 1.5 << std::hex << 255;
  const std::function<std::string()> function = [copy = stream.str()] { return copy + copy; };
  const std::function<std::string()> copied = function;
  Keep(copied().data());
}

int AllocateAndCompare(const void* left, const void* right) {
  AllocateHere();
  return *static_cast<const int*>(left) - *static_cast<const int*>(right);
}

TEST_F(UnwindingTest, InTheCLibrary) {
  std::vector<int> values(1000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i * 7919 % 1000);
  std::qsort(values.data(), values.size(), sizeof(int), AllocateAndCompare);

  void* root = nullptr;
  for (int& value : values) tsearch(&value, &root, AllocateAndCompare);
  tdestroy(root, [](void*) { AllocateHere(); });

  std::FILE* const file = std::fopen("/proc/self/status", "r");
  char* line = nullptr;
  std::size_t room = 0;
  while (getline(&line, &room, file) > 0) {
  }
  std::free(line);
  std::fclose(file);
}

// Beside this program, wherever the build tree is.
void* Open(const char* name, int flags) {
  void* const library = dlopen((std::string("$ORIGIN/") + name).c_str(), flags);
  EXPECT_NE(library, nullptr) << dlerror();
  return library;
}

void Call(void* library, const char* function) {
  const auto called = reinterpret_cast<void (*)()>(dlsym(library, function));
  ASSERT_NE(called, nullptr) << dlerror();
  called();
}

// The dynamic linker binds a call to a library that it did not know of as a
// dependency, and notes that on the heap: a stack through _dl_runtime_resolve.
TEST_F(UnwindingTest, InTheResolverOfALazilyBoundCall) {
  void* const defines = Open("libunwinding_defines.so", RTLD_LAZY | RTLD_GLOBAL);
  void* const calls = Open("libunwinding_calls.so", RTLD_LAZY);
  const std::uint64_t before = RecordedAllocations();
  Call(calls, "CallWhatIsDefinedElsewhere");
  EXPECT_GT(RecordedAllocations(), before);
  dlclose(calls);
  dlclose(defines);
}

// The first use of a loaded library's thread-local variable allocates it.
TEST_F(UnwindingTest, InTheAllocationOfALibrarysThreadLocals) {
  void* const library = Open("libunwinding_defines.so", RTLD_NOW);
  const std::uint64_t before = RecordedAllocations();
  Call(library, "UseThreadLocal");
  EXPECT_GT(RecordedAllocations(), before);
  dlclose(library);
}

__attribute__((noinline)) void* AllocateByATailCall(std::size_t bytes) {
  return std::malloc(bytes);  // a jump: the frame is gone
}

TEST_F(UnwindingTest, FromTailCalls) {
  void* const block = AllocateByATailCall(10);
  Keep(block);
  std::free(block);
}

__attribute__((noinline)) void AllocateRealigned(std::size_t bytes) {
  alignas(64) volatile char aligned[64] = {1};
  auto* const dynamic = static_cast<char*>(alloca(bytes));
  Keep(dynamic);
  Keep(&aligned);
  AllocateHere();
  if (bytes > 16) AllocateRealigned(bytes / 2);
  Keep(&aligned);
}

TEST_F(UnwindingTest, FromRealignedFramesWithAlloca) { AllocateRealigned(3000); }

__attribute__((noinline)) int Recurse(int depth) {
  if (depth == 0) {
    AllocateHere();
    return 0;
  }
  const int below = Recurse(depth - 1) + 1;
  if (depth % 50 == 0) AllocateHere();
  return below;
}

TEST_F(UnwindingTest, FromDepthsAroundTheLimit) {
  for (const int depth : {100, 235, 245, 250, 255, 260, 600, 250, 10}) Recurse(depth);
}

class SignalledTest : public UnwindingTest, public ::testing::WithParamInterface<int> {
 protected:
  // Runs `handler` for SIGUSR1, on this thread's alternate stack if so asked.
  void Handle(int signal, void (*handler)(int)) {
    stack_t other{};
    other.ss_sp = other_stack_;
    other.ss_size = sizeof(other_stack_);
    sigaltstack(&other, nullptr);
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = GetParam();
    sigaction(signal, &action, nullptr);
  }
  void TearDown() override {
    signal(SIGUSR1, SIG_DFL);
    signal(SIGTRAP, SIG_DFL);
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
    UnwindingTest::TearDown();
  }

 private:
  char other_stack_[256 * 1024];
};

TEST_P(SignalledTest, InAHandler) {
  Handle(SIGUSR1, [](int) { Recurse(60); });
  for (int i = 0; i < 5; ++i) raise(SIGUSR1);
  Recurse(3);
}

// Prologues, epilogues, linkage stubs, the binding of calls, and what the C
// library has in hand-written assembly.
void Compute(void*) {
  const char* text = "31415926535";
  Keep(&text);
  char room[64] = {};
  std::strcpy(room, text);
  std::memmove(room + 1, room, std::strlen(room));
  std::qsort(room, 8, 1,
             [](const void* left, const void* right) { return std::memcmp(left, right, 1); });
  const int result = std::atoi(room) + std::abs(room[1]);
  Keep(&result);
}

TEST_P(SignalledTest, FromEveryInstruction) {
  Handle(SIGTRAP, [](int) { AllocateHere(); });
  const std::uint64_t before = RecordedAllocations();
  CallStepByStep(Compute, nullptr);
  EXPECT_GT(RecordedAllocations(), before + 1000);
}

INSTANTIATE_TEST_SUITE_P(OnEitherStack, SignalledTest, ::testing::Values(0, SA_ONSTACK));

struct AllocatesWhenDestroyed {
  ~AllocatesWhenDestroyed() { AllocateHere(); }
};

__attribute__((noinline)) void Throw(int depth) {
  const AllocatesWhenDestroyed allocates;
  if (depth == 0) throw std::runtime_error(std::string(100, 'x'));
  Throw(depth - 1);
}

TEST_F(UnwindingTest, WhileAnExceptionIsThrownAndCaught) {
  std::exception_ptr kept;
  for (int i = 0; i < 3; ++i) {
    try {
      try {
        Throw(10);
      } catch (const std::runtime_error&) {
        AllocateHere();
        kept = std::current_exception();
        throw;
      }
    } catch (const std::exception& error) {
      AllocateHere();
      EXPECT_EQ(std::string(error.what()).size(), 100U);
    }
  }
  EXPECT_THROW(std::rethrow_exception(kept), std::runtime_error);
}

TEST_F(UnwindingTest, AfterAJumpOutOfManyFrames) {
  static std::jmp_buf jump;
  volatile int depth = 5;
  if (setjmp(jump) == 0) {
    const std::function<void(int)> descend = [&](int left) {
      AllocateHere();
      if (left == 0) std::longjmp(jump, 1);
      descend(left - 1);
      Keep(&left);
    };
    descend(depth);
  }
  AllocateHere();
  Recurse(depth);
}

Task AllocateInCoroutine(int depth) {
  AllocateHere();
  if (depth > 0) co_await AllocateInCoroutine(depth - 1);
  AllocateHere();
}

TEST_F(UnwindingTest, InCoroutines) {
  for (int i = 0; i < 3; ++i) {
    Task task = AllocateInCoroutine(5);
    task.Run();
  }
}

ucontext_t g_main_context;
ucontext_t g_other_context;

void AllocateOnOtherStack(int depth) {
  for (;;) {
    Recurse(depth);
    swapcontext(&g_other_context, &g_main_context);
  }
}

// Twice at the same address, for two functions that leave other frames there.
TEST_F(UnwindingTest, OnOtherContextsStacks) {
  constexpr std::size_t kBytes = 256 * 1024;
  void* address = nullptr;
  for (const int depth : {5, 9, 5}) {
    void* const stack =
        mmap(address, kBytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | (address != nullptr ? MAP_FIXED : 0), -1, 0);
    ASSERT_NE(stack, MAP_FAILED);
    address = stack;
    getcontext(&g_other_context);
    g_other_context.uc_stack.ss_sp = stack;
    g_other_context.uc_stack.ss_size = kBytes;
    g_other_context.uc_link = nullptr;
    makecontext(&g_other_context, reinterpret_cast<void (*)()>(AllocateOnOtherStack), 1, depth);
    for (int i = 0; i < 3; ++i) {
      swapcontext(&g_main_context, &g_other_context);
      Recurse(2);
    }
    munmap(stack, kBytes);
  }
}

TEST_F(UnwindingTest, FromHandWrittenAssembly) {
  for (int i = 0; i < 3; ++i) {
    WalkFromPreservedRegisterFrame(AllocateInto, nullptr);
    WalkFromExpressionFrame(AllocateInto, nullptr);
    WalkFromSignedFrame(AllocateInto, nullptr);
  }
}

TEST_F(UnwindingTest, InNewThreads) {
  std::thread([] { Recurse(5); }).join();
  thrd_t c_thread;
  thrd_create(
      &c_thread, [](void*) { return Recurse(6); }, nullptr);
  thrd_join(c_thread, nullptr);

  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 128 * 1024);
  pthread_t thread;
  pthread_create(
      &thread, &attributes,
      [](void*) -> void* {
        static thread_local AllocatesWhenDestroyed at_end;
        Keep(&at_end);
        Recurse(7);
        return nullptr;
      },
      nullptr);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

}  // namespace
}  // namespace leakgate::check
