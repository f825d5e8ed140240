// The functions by which Windows traces heaps, as a table: KernelTraceControl.dll, which starts
// such sessions, comes with the Windows Performance Toolkit and not with Windows, and tests play
// the system.
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
  ULONG(WINAPI* start)
  (TRACEHANDLE* session, EVENT_TRACE_PROPERTIES* properties, const wchar_t* name,
   const ULONG* processes, ULONG process_count, const StackTracingEvent* stacks,
   ULONG stack_count) = nullptr;
  ULONG(WINAPI* update)
  (EVENT_TRACE_PROPERTIES* properties, const wchar_t* name, const ULONG* processes,
   ULONG process_count, const StackTracingEvent* stacks, ULONG stack_count) = nullptr;
  decltype(&ControlTraceW) control = nullptr;
  decltype(&OpenTraceW) open = nullptr;
  decltype(&ProcessTrace) process = nullptr;
  decltype(&CloseTrace) close = nullptr;
};

// Loads StartHeapTrace and UpdateHeapTrace from `control_library`, whose path must be absolute: the
// caller is an administrator, and must not load what lies in the current folder. The others are
// loaded from `system_library`. Both stay loaded.
[[nodiscard]] Expected<TraceCalls> LoadTraceCalls(
    const std::filesystem::path& control_library,
    const std::filesystem::path& system_library = L"advapi32.dll");

}  // namespace leakgate
