// The functions by which Windows traces heaps, as a table. KernelTraceControl.dll, which starts
// such sessions, comes with the Windows Performance Toolkit and not with Windows; without it they
// are started by StartTrace. Tests play the system.
#pragma once

#include <filesystem>

#include "runner/base/expected.h"
#include "runner/base/nt/win32.h"
// These need <windows.h> in front of them.
#include <evntcons.h>
#include <evntrace.h>

namespace leakgate {

// STACK_TRACING_EVENT_ID, which mingw-w64's headers do not have.
struct StackTracingEvent {
  GUID provider;
  UCHAR opcode;
  UCHAR reserved[7];
};
static_assert(sizeof(StackTracingEvent) == 24);

struct TraceCalls {
  // StartHeapTrace and UpdateHeapTrace; both are null where the toolkit is not installed.
  ULONG(WINAPI* start)
  (TRACEHANDLE* session, EVENT_TRACE_PROPERTIES* properties, const wchar_t* name,
   const ULONG* processes, ULONG process_count, const StackTracingEvent* stacks,
   ULONG stack_count) = nullptr;
  ULONG(WINAPI* update)
  (EVENT_TRACE_PROPERTIES* properties, const wchar_t* name, const ULONG* processes,
   ULONG process_count, const StackTracingEvent* stacks, ULONG stack_count) = nullptr;
  decltype(&StartTraceW) start_plain = nullptr;
  decltype(&ControlTraceW) control = nullptr;
  decltype(&OpenTraceW) open = nullptr;
  decltype(&ProcessTrace) process = nullptr;
  decltype(&CloseTrace) close = nullptr;
};

// Returns where KernelTraceControl.dll is, as an absolute path; empty if it is not installed. It is
// looked for where the registry says that the Windows Kits are, and in Windows' own folder: only
// administrators write to either. The current folder and PATH are not looked into, since the caller
// is an administrator, and would load what anybody has put there.
[[nodiscard]] std::filesystem::path FindControlLibrary();

// Loads StartHeapTrace and UpdateHeapTrace from `control_library`, whose path must be absolute;
// none of them if it is empty. The others are loaded from `system_library`, which is looked for in
// Windows' own folder. Both stay loaded.
[[nodiscard]] Expected<TraceCalls> LoadTraceCalls(
    const std::filesystem::path& control_library,
    const std::filesystem::path& system_library = L"advapi32.dll");

// Returns those of this system. Tests of whole programs have another definition.
[[nodiscard]] Expected<TraceCalls> SystemTraceCalls();

}  // namespace leakgate
