// Allocates wherever a thread can before, in and after the function that it is there for, and in
// the same function by every way. What the agent proves of a stack ends at the thread's first frame
// (plugin/agent/unwind/stack_memo.h): whatever comes further out, or has come there since, must not
// be told as it was before.
#include <pthread.h>

#include <csetjmp>
#include <cstdlib>
#include <initializer_list>
#include <thread>

namespace {

constexpr int kTimes = 4;  // the third is proved

void* volatile g_block = nullptr;
pthread_key_t g_key;
std::jmp_buf g_jump;

__attribute__((noinline)) void Allocate() {
  for (int i = 0; i < kTimes; ++i) {
    g_block = std::malloc(40);
    std::free(g_block);
  }
}

__attribute__((noinline)) void Work() {
  for (int i = 0; i < kTimes; ++i) Allocate();
}

// The function of threads, and what is called at their ends.
void* Job(void*) {
  Work();
  return nullptr;
}
void JobAtEnd(void* value) { Job(value); }

struct WorksWhenDestroyed {
  ~WorksWhenDestroyed() { Job(nullptr); }
};
thread_local WorksWhenDestroyed t_works;

void* JobWithEnds(void* given) {
  pthread_setspecific(g_key, &g_key);
  static_cast<void>(&t_works);
  asm volatile("" : : "r"(&t_works) : "memory");
  return Job(given);
}
void* JobThatExits(void* given) {
  JobWithEnds(given);
  pthread_exit(nullptr);
}
void* JobThatJumps(void* given) {
  std::jmp_buf jump;
  volatile int left = kTimes;
  setjmp(jump);
  Job(given);
  left = left - 1;
  if (left > 0) std::longjmp(jump, 1);
  return nullptr;
}
// Beyond the part of the stack that is surely the thread's (plugin/agent/linux/own_stack.h).
void* JobFarIn(void* given) {
  volatile char far[32768];
  far[0] = 0;
  void* const result = Job(given);
  far[1] = far[0];
  return result;
}

void RunThread(void* (*job)(void*), std::size_t stack_bytes) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  pthread_t thread;
  if (pthread_create(&thread, &attributes, job, nullptr) != 0) std::abort();
  pthread_attr_destroy(&attributes);
  pthread_join(thread, nullptr);
}

// The C library's stacks are used again: thread after thread has the same addresses.
void RunThreads() {
  for (int i = 0; i < kTimes; ++i) {
    for (const auto job : {Job, JobWithEnds, JobFarIn, JobThatExits, JobThatJumps}) {
      for (const std::size_t stack_bytes : {8U << 20, 1U << 18}) RunThread(job, stack_bytes);
    }
    std::thread(Work).join();
  }
}

__attribute__((constructor)) void BeforeMain() { Work(); }
__attribute__((destructor)) void AfterMain() { Work(); }

void* EndTheProcess(void* main_thread) {
  pthread_join(*static_cast<pthread_t*>(main_thread), nullptr);
  Work();
  std::exit(0);
}

}  // namespace

int main(int argc, char**) {
  pthread_key_create(&g_key, JobAtEnd);
  std::atexit(Work);
  std::at_quick_exit(Work);
  Work();
  RunThreads();
  setjmp(g_jump);
  Work();
  static int jumps_left = kTimes;
  if (--jumps_left > 0) std::longjmp(g_jump, 1);
  if (argc > 1) {
    // Main's own thread ends first: what it leads to runs where main has been called from.
    static pthread_t main_thread = pthread_self();
    pthread_t last;
    if (pthread_create(&last, nullptr, EndTheProcess, &main_thread) != 0) return 1;
    JobThatExits(nullptr);
  }
  return 0;
}
