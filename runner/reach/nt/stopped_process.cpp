#include "runner/reach/nt/stopped_process.h"

#include "runner/base/nt/win32.h"

// It needs <windows.h>.
#include <fmt/format.h>
#include <tlhelp32.h>
#include <winternl.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <set>
#include <utility>

namespace leakgate {
namespace {

Unexpected StopError(int pid, std::string_view what) {
  return InconclusiveError(fmt::format(
      "what holds blocks could not be found out: {} of PID {} (error {}); let no debugger or "
      "security software protect the process, or give budgets that need no look at it",
      what, pid, ::GetLastError()));
}

// The name that the program has given to the thread; empty if it has given none, or on an old
// Windows.
std::string NameOf(HANDLE thread) {
  using GetDescription = HRESULT(WINAPI*)(HANDLE, PWSTR*);
  static const auto get = reinterpret_cast<GetDescription>(reinterpret_cast<void*>(
      ::GetProcAddress(::GetModuleHandleW(L"kernel32.dll"), "GetThreadDescription")));
  PWSTR text = nullptr;
  if (get == nullptr || FAILED(get(thread, &text)) || text == nullptr) return {};
  std::string name = Utf8Of(text);
  ::LocalFree(text);
  return name;
}

// The record of a thread's registers, with those of vectors where the processor has them.
class Registers {
 public:
  explicit Registers(HANDLE thread) {
    constexpr DWORD kAll = CONTEXT_CONTROL | CONTEXT_INTEGER | CONTEXT_FLOATING_POINT;
    constexpr DWORD kWithVectors = 0x0010'0040;  // CONTEXT_XSTATE, which Debian's headers lack
    const DWORD flags = kAll | kWithVectors;
    DWORD bytes = 0;
    ::InitializeContext(nullptr, flags, nullptr, &bytes);
    words_.resize(bytes / sizeof(std::uint64_t) + 1);
    bool is_made = bytes != 0 && ::InitializeContext(words_.data(), flags, &context_, &bytes) != 0;
    if (is_made && ::SetXStateFeaturesMask(context_, XSTATE_MASK_GSSE | kAllVectors) == 0) {
      is_made = false;
    }
    if (is_made && ::GetThreadContext(thread, context_) != 0) return;
    words_.assign(sizeof(CONTEXT) / sizeof(std::uint64_t) + 2, 0);
    context_ = reinterpret_cast<CONTEXT*>((reinterpret_cast<std::uintptr_t>(words_.data()) + 15) &
                                          ~std::uintptr_t{15});
    context_->ContextFlags = kAll;
    if (::GetThreadContext(thread, context_) == 0) context_ = nullptr;
  }
  [[nodiscard]] const CONTEXT* context() const { return context_; }
  [[nodiscard]] std::vector<std::uint64_t> TakeWords() { return std::move(words_); }

 private:
  // AVX and AVX-512, as the processor numbers them.
  static constexpr DWORD64 kAllVectors = 0b1110'0100;

  std::vector<std::uint64_t> words_;
  CONTEXT* context_ = nullptr;
};

std::mutex turns_mutex;
std::condition_variable turns_changed;
std::set<int> taken_turns;  // the processes that are stopped

}  // namespace

StopTurn::StopTurn(int pid) : pid_(pid) {
  std::unique_lock lock(turns_mutex);
  turns_changed.wait(lock, [pid] { return !taken_turns.contains(pid); });
  taken_turns.insert(pid);
}

StopTurn::~StopTurn() {
  if (pid_ == 0) return;
  const std::lock_guard lock(turns_mutex);
  taken_turns.erase(pid_);
  turns_changed.notify_all();
}

std::vector<int> ListThreadsOf(int pid) {
  std::vector<int> threads;
  const HANDLE list = ::CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0);
  if (list == INVALID_HANDLE_VALUE) return threads;
  THREADENTRY32 entry{};
  entry.dwSize = sizeof entry;
  for (BOOL has = ::Thread32First(list, &entry); has != 0; has = ::Thread32Next(list, &entry)) {
    if (entry.th32OwnerProcessID == static_cast<DWORD>(pid)) {
      threads.push_back(static_cast<int>(entry.th32ThreadID));
    }
  }
  ::CloseHandle(list);
  return threads;
}

StoppedProcess::StoppedProcess(StoppedProcess&& other) noexcept
    : turn_(std::move(other.turn_)),
      pid_(other.pid_),
      process_(std::exchange(other.process_, nullptr)),
      held_(std::exchange(other.held_, {})),
      threads_(std::move(other.threads_)) {}

Expected<StoppedProcess> StoppedProcess::Stop(int pid) {
  constexpr int kMostRounds = 100;
  StoppedProcess stopped(pid);
  stopped.process_ =
      ::OpenProcess(PROCESS_VM_READ | PROCESS_QUERY_INFORMATION, FALSE, static_cast<DWORD>(pid));
  if (stopped.process_ == nullptr && ::GetLastError() == ERROR_INVALID_PARAMETER) {
    return InconclusiveError(fmt::format("PID {} has ended", pid));
  }
  if (stopped.process_ == nullptr) return StopError(pid, "the memory cannot be read");
  for (int round = 0;; ++round) {
    LEAKGATE_TRY_ASSIGN(const bool has_new, stopped.StopNewThreads());
    if (!has_new) break;
    if (round == kMostRounds) return StopError(pid, "there is always one more thread");
  }
  if (stopped.held_.empty()) return InconclusiveError(fmt::format("PID {} has ended", pid));
  for (const Held& held : stopped.held_) stopped.ReadThread(held);
  return stopped;
}

Expected<bool> StoppedProcess::StopNewThreads() {
  bool has_new = false;
  for (const int tid : ListThreadsOf(pid_)) {
    const bool is_held = std::any_of(held_.begin(), held_.end(),
                                     [tid](const Held& held) { return held.tid == tid; });
    if (is_held) continue;
    const HANDLE thread =
        ::OpenThread(THREAD_SUSPEND_RESUME | THREAD_GET_CONTEXT | THREAD_QUERY_INFORMATION, FALSE,
                     static_cast<DWORD>(tid));
    if (thread == nullptr && ::GetLastError() == ERROR_INVALID_PARAMETER) continue;  // it has ended
    if (thread == nullptr) return StopError(pid_, "a thread cannot be opened");
    if (::SuspendThread(thread) == static_cast<DWORD>(-1)) {
      const DWORD error = ::GetLastError();
      const bool has_ended = ::WaitForSingleObject(thread, 0) == WAIT_OBJECT_0;
      ::CloseHandle(thread);
      // A thread that is just ending cannot be stopped. It is seen again when all is read.
      if (has_ended || error == ERROR_ACCESS_DENIED) continue;
      ::SetLastError(error);
      return StopError(pid_, "a thread cannot be stopped");
    }
    held_.push_back({tid, thread});
    has_new = true;
  }
  return has_new;
}

void StoppedProcess::ReadThread(const Held& held) {
  Registers registers(held.handle);            // waits until the thread has stopped
  if (registers.context() == nullptr) return;  // it has ended
  StoppedThread thread{.tid = held.tid, .name = NameOf(held.handle), .registers = {}};
  thread.stack_pointer = registers.context()->Rsp;
  thread.stack_base = StackBaseOf(held.handle);
  thread.registers = registers.TakeWords();
  BOOL is_pending = FALSE;
  thread.awaits_input_or_output =
      ::GetThreadIOPendingFlag(held.handle, &is_pending) != 0 && is_pending != 0;
  threads_.push_back(std::move(thread));
}

// The thread's environment block begins with an NT_TIB. A fiber's stack is the thread's while it
// runs.
std::uint64_t StoppedProcess::StackBaseOf(void* thread) const {
  // THREAD_BASIC_INFORMATION, which the headers lack.
  struct {
    NTSTATUS status;
    void* TebBaseAddress;
    void* ids[2];
    ULONG_PTR processors;
    LONG priorities[2];
  } facts{};
  constexpr auto kBasic = static_cast<THREADINFOCLASS>(0);
  if (::NtQueryInformationThread(thread, kBasic, &facts, sizeof facts, nullptr) < 0) return 0;
  NT_TIB block{};
  SIZE_T got = 0;
  if (::ReadProcessMemory(process_, facts.TebBaseAddress, &block, sizeof block, &got) == 0)
    return 0;
  return reinterpret_cast<std::uint64_t>(block.StackBase);
}

void* StoppedProcess::HandleOfThread(int tid) const {
  const auto held = std::find_if(held_.begin(), held_.end(),
                                 [tid](const Held& thread) { return thread.tid == tid; });
  return held == held_.end() ? nullptr : held->handle;
}

bool StoppedProcess::LetGo(int tid) const {
  void* const thread = HandleOfThread(tid);
  return thread != nullptr && ::ResumeThread(thread) != static_cast<DWORD>(-1);
}

bool StoppedProcess::StopAgain(int tid) const {
  void* const thread = HandleOfThread(tid);
  if (thread == nullptr || ::SuspendThread(thread) == static_cast<DWORD>(-1)) return false;
  return Registers(thread).context() != nullptr;  // waits until it has stopped
}

bool StoppedProcess::HasStoodStill() const {
  const std::vector<int> threads = ListThreadsOf(pid_);
  return std::all_of(threads.begin(), threads.end(), [this](int tid) {
    return std::any_of(held_.begin(), held_.end(),
                       [tid](const Held& held) { return held.tid == tid; });
  });
}

void StoppedProcess::Resume() {
  for (const Held& held : std::exchange(held_, {})) {
    ::ResumeThread(held.handle);
    ::CloseHandle(held.handle);
  }
  if (process_ != nullptr) ::CloseHandle(std::exchange(process_, nullptr));
}

}  // namespace leakgate
