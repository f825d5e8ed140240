#include "runner/base/signal_end.h"

#include <io.h>

#include <atomic>
#include <cstring>
#include <cwchar>

#include "runner/base/nt/console_events.h"
#include "runner/base/nt/win32.h"

namespace leakgate {
namespace {

constexpr DWORD kDeferralMs = 10'000;
constexpr std::size_t kMostUnits = 1024;

struct FileSlot {
  std::atomic<bool> is_taken{false};
  std::atomic<bool> is_set{false};  // stored (release) after the path is written
  wchar_t path[kMostUnits] = {};
};
FileSlot g_partial_files[8];

char g_terminal_text[128];
std::atomic<std::size_t> g_terminal_bytes{0};
std::atomic<int> g_terminal{-1};

std::atomic<bool> g_is_deferred{false};
std::atomic<bool> g_is_noted{false};
std::atomic<ConsoleEventTaker> g_taker{nullptr};

[[noreturn]] void EndProcessByEvent() {
  RemovePartialFiles();
  TerminateProcess(GetCurrentProcess(), static_cast<UINT>(STATUS_CONTROL_C_EXIT));
  for (;;) Sleep(INFINITE);
}

// The system calls this on a thread of its own for each event.
BOOL WINAPI OnConsoleEvent(DWORD event) {
  const ConsoleEventTaker taker = g_taker.load();
  if (taker != nullptr && taker(event)) return TRUE;
  if (g_is_deferred.load() && !g_is_noted.exchange(true)) {
    Sleep(kDeferralMs);
    if (!g_is_noted.load()) return TRUE;  // the work has come to its end meanwhile
  }
  EndProcessByEvent();
}

}  // namespace

void TakeConsoleEvents(ConsoleEventTaker taker) { g_taker.store(taker); }

void RemovePartialFiles() {
  for (FileSlot& slot : g_partial_files) {
    if (slot.is_set.load(std::memory_order_acquire)) DeleteFileW(slot.path);
  }
  const std::size_t bytes = g_terminal_bytes.load(std::memory_order_acquire);
  if (bytes == 0) return;
  DWORD written = 0;
  WriteFile(reinterpret_cast<HANDLE>(_get_osfhandle(g_terminal.load())), g_terminal_text,
            static_cast<DWORD>(bytes), &written, nullptr);
}

void EndProcessSaying(std::string_view line, ExitCode exit_code) {
  RemovePartialFiles();
  DWORD written = 0;
  WriteFile(GetStdHandle(STD_ERROR_HANDLE), line.data(), static_cast<DWORD>(line.size()), &written,
            nullptr);
  TerminateProcess(GetCurrentProcess(), static_cast<UINT>(exit_code));
  for (;;) Sleep(INFINITE);
}

// Events of the console come on threads of their own.
std::thread StartThreadWithoutSignals(std::function<void()> run) {
  return std::thread(std::move(run));
}

void HandleEndSignals() { SetConsoleCtrlHandler(OnConsoleEvent, TRUE); }

PartialFile::PartialFile(int directory, std::string_view name) : slot_(nullptr) {
  const std::wstring path = PathOfHandle(HandleOf(directory)) + L'\\' + WideOf(name);
  if (path.size() >= kMostUnits) return;
  for (FileSlot& slot : g_partial_files) {
    if (slot.is_taken.exchange(true)) continue;
    std::wmemcpy(slot.path, path.c_str(), path.size() + 1);
    slot.is_set.store(true, std::memory_order_release);
    slot_ = &slot;
    return;
  }
}

PartialFile::~PartialFile() {
  if (slot_ == nullptr) return;
  auto& slot = *static_cast<FileSlot*>(slot_);
  slot.is_set.store(false, std::memory_order_release);
  slot.is_taken.store(false);
}

void RestoreTerminalAtSignal(int fd, std::string_view text) {
  g_terminal_bytes.store(0, std::memory_order_release);
  if (text.size() > sizeof(g_terminal_text)) return;
  std::memcpy(g_terminal_text, text.data(), text.size());
  g_terminal.store(fd);
  g_terminal_bytes.store(text.size(), std::memory_order_release);
}

EndSignalDeferral::EndSignalDeferral() {
  g_is_noted.store(false);
  g_is_deferred.store(true);
}

EndSignalDeferral::~EndSignalDeferral() {
  g_is_deferred.store(false);
  if (g_is_noted.exchange(false) && !is_reported_) EndProcessByEvent();
}

bool EndSignalDeferral::WasAskedToEnd() {
  is_reported_ = is_reported_ || g_is_noted.load();
  return is_reported_;
}

}  // namespace leakgate
