#include "runner/process/proc_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "runner/base/nt/win32.h"
#include "runner/process/nt/snapshot.h"

namespace leakgate {
namespace {

UniqueFd OpenProcessFor(DWORD rights, int pid) {
  return OwnHandle(OpenProcess(rights, FALSE, static_cast<DWORD>(pid)));
}

UniqueFd OpenThreadOf(int tid) {
  return OwnHandle(
      OpenThread(THREAD_QUERY_LIMITED_INFORMATION | SYNCHRONIZE, FALSE, static_cast<DWORD>(tid)));
}

std::uint64_t Ticks(const FILETIME& time) {
  return std::uint64_t{time.dwHighDateTime} << 32 | time.dwLowDateTime;
}

bool CanBeRead(DWORD protection) {
  return (protection & (PAGE_GUARD | PAGE_NOACCESS)) == 0 && protection != PAGE_EXECUTE;
}
bool CanBeWritten(DWORD protection) {
  return CanBeRead(protection) &&
         (protection &
          (PAGE_READWRITE | PAGE_WRITECOPY | PAGE_EXECUTE_READWRITE | PAGE_EXECUTE_WRITECOPY)) != 0;
}
bool CanBeExecuted(DWORD protection) {
  return (protection & (PAGE_EXECUTE | PAGE_EXECUTE_READ | PAGE_EXECUTE_READWRITE |
                        PAGE_EXECUTE_WRITECOPY)) != 0;
}

}  // namespace

Expected<void> RequireProc() { return {}; }

std::string ReadMemoryOf(int pid, std::uint64_t address, std::size_t bytes) {
  const UniqueFd process = OpenProcessFor(PROCESS_VM_READ, pid);
  std::string text(bytes, '\0');
  SIZE_T count = 0;
  if (process) {
    ReadProcessMemory(HandleOf(process), reinterpret_cast<const void*>(address), text.data(), bytes,
                      &count);
  }
  text.resize(count);
  return text;
}

// SetThreadDescription gives threads names.
std::string NameOfThread(int, int tid) {
  // Since Windows 10 1607, and not in the headers of mingw-w64 10.
  using GetDescription = HRESULT(WINAPI*)(HANDLE thread, PWSTR * text);
  static const auto get_description = reinterpret_cast<GetDescription>(reinterpret_cast<void*>(
      GetProcAddress(GetModuleHandleW(L"kernel32"), "GetThreadDescription")));
  const UniqueFd thread = OpenThreadOf(tid);
  PWSTR text = nullptr;
  if (get_description == nullptr || !thread || FAILED(get_description(HandleOf(thread), &text))) {
    return "";
  }
  std::string name = Utf8Of(text);
  LocalFree(text);
  return name;
}

std::string StatusField(int, int, std::string_view) { return ""; }

Unexpected EndedError(int pid) {
  return InconclusiveError(fmt::format("the process with PID {} has ended", pid));
}

// On Linux the first thread has the number of the process, so callers ask for that by it.
bool HasDied(int pid, int tid) {
  if (tid == pid) return HasNoMemory(pid);
  const UniqueFd thread = OpenThreadOf(tid);
  // A thread's number may belong to another process by now.
  if (!thread || GetProcessIdOfThread(HandleOf(thread)) != static_cast<DWORD>(pid)) return true;
  return WaitForSingleObject(HandleOf(thread), 0) == WAIT_OBJECT_0;
}

std::uint64_t StartTimeOf(int pid) {
  const UniqueFd process = OpenProcessFor(PROCESS_QUERY_LIMITED_INFORMATION, pid);
  FILETIME begin{};
  FILETIME end{};
  FILETIME kernel{};
  FILETIME user{};
  const bool is_known =
      process && GetProcessTimes(HandleOf(process), &begin, &end, &kernel, &user) != 0;
  return is_known ? Ticks(begin) : 0;
}

std::optional<std::chrono::nanoseconds> TimeOnProcessor(int, int tid) {
  const UniqueFd thread = OpenThreadOf(tid);
  FILETIME begin{};
  FILETIME end{};
  FILETIME kernel{};
  FILETIME user{};
  if (!thread || GetThreadTimes(HandleOf(thread), &begin, &end, &kernel, &user) == 0) {
    return std::nullopt;
  }
  return std::chrono::nanoseconds(100 * (Ticks(kernel) + Ticks(user)));
}

bool SleepsForATime(int, int) { return true; }

std::vector<int> ListThreads(int pid) {
  std::vector<int> threads;
  ForEachThread([&](const THREADENTRY32& thread) {
    if (thread.th32OwnerProcessID == static_cast<DWORD>(pid)) {
      threads.push_back(static_cast<int>(thread.th32ThreadID));
    }
  });
  return threads;
}

std::vector<int> ListProcesses() {
  std::vector<int> processes;
  ForEachProcess([&](const PROCESSENTRY32W& process) {
    processes.push_back(static_cast<int>(process.th32ProcessID));
  });
  return processes;
}

// Handles have no numbers that say what they are: only threads are told.
ProcessResources ReadResources(int pid) {
  ProcessResources resources;
  for (const int tid : ListThreads(pid)) resources.threads[tid] = NameOfThread(pid, tid);
  return resources;
}

Expected<std::vector<MappedRange>> ReadMaps(int pid) {
  const UniqueFd process = OpenProcessFor(PROCESS_QUERY_INFORMATION | PROCESS_VM_READ, pid);
  std::vector<MappedRange> ranges;
  MEMORY_BASIC_INFORMATION facts{};
  for (std::uint64_t at = 0;
       process && VirtualQueryEx(HandleOf(process), reinterpret_cast<const void*>(at), &facts,
                                 sizeof(facts)) != 0;
       at += facts.RegionSize) {
    at = reinterpret_cast<std::uint64_t>(facts.BaseAddress);
    if (facts.State != MEM_COMMIT) continue;
    ranges.push_back({.begin = at,
                      .end = at + facts.RegionSize,
                      .is_readable = CanBeRead(facts.Protect),
                      .is_writable = CanBeWritten(facts.Protect),
                      .is_executable = CanBeExecuted(facts.Protect),
                      .is_shared = facts.Type == MEM_MAPPED,
                      .name = {}});
  }
  if (ranges.empty()) {
    return InconclusiveError(
        fmt::format("the memory of PID {} cannot be listed: the process has gone", pid));
  }
  return ranges;
}

bool IsStoppedBySignal(int) { return false; }
int YamaScope() { return 0; }

// Users have no numbers: a process that this user may not open counts as none.
std::optional<unsigned> UserOfProcess(int pid) {
  const UniqueFd process = OpenProcessFor(PROCESS_QUERY_LIMITED_INFORMATION | SYNCHRONIZE, pid);
  if (!process || WaitForSingleObject(HandleOf(process), 0) == WAIT_OBJECT_0) return std::nullopt;
  return EffectiveUser();
}

bool HasNoMemory(int pid) {
  const UniqueFd process = OpenProcessFor(SYNCHRONIZE, pid);
  return !process || WaitForSingleObject(HandleOf(process), 0) == WAIT_OBJECT_0;
}

}  // namespace leakgate
