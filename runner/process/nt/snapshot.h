// Lists the processes and threads of the machine.
#pragma once

#include "runner/base/nt/win32.h"
// After <windows.h>, whose types it uses.
#include <tlhelp32.h>

namespace leakgate {

template <typename See>
void ForEachThread(const See& see) {
  const UniqueFd all = OwnHandle(CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0));
  THREADENTRY32 thread{};
  thread.dwSize = sizeof(thread);
  if (!all || !Thread32First(HandleOf(all), &thread)) return;
  do {
    see(thread);
  } while (Thread32Next(HandleOf(all), &thread));
}

template <typename See>
void ForEachProcess(const See& see) {
  const UniqueFd all = OwnHandle(CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0));
  PROCESSENTRY32W process{};
  process.dwSize = sizeof(process);
  if (!all || !Process32FirstW(HandleOf(all), &process)) return;
  do {
    see(process);
  } while (Process32NextW(HandleOf(all), &process));
}

}  // namespace leakgate
