// A fake of KernelTraceControl.dll and of the calls by which events are read. The test program
// exports the functions, so it is both libraries. Notes what it is asked, and plays what it is
// given: first an event of leakgate's own heap, and after UpdateHeapTrace `events`.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runner/etw/nt/trace_calls.h"
#include "tests/support/trace_events.h"

namespace leakgate::test {

struct FakeKernel {
  // What it is to do.
  ULONG start_error = ERROR_SUCCESS;
  ULONG second_start_error = ERROR_SUCCESS;  // of each session but the first
  ULONG update_error = ERROR_SUCCESS;
  ULONG stop_error = ERROR_SUCCESS;
  bool tells_own_events = true;
  bool ends_early = false;
  ULONG lost_events = 0;  // of the first session; the second one's follow
  ULONG second_lost_events = 0;
  ULONG lost_buffers = 0;
  ULONG lost_real_time_buffers = 0;
  std::vector<MadeEvent> events;
  std::function<std::vector<MadeEvent>()> events_at_stop = {};  // more, once it is asked to stop
  std::function<void(const char* call)> on_call = {};           // as each call begins, but flushes

  // What it was asked, in order: "start" or "start plain", "open", "update", "flush", "stop",
  // "close".
  std::vector<std::string> calls;
  std::wstring name;
  std::vector<ULONG> processes_at_start;  // of the last session, which StartTrace began as well
  std::vector<ULONG> processes_at_update;
  std::vector<int> stack_opcodes;
  ULONG read_mode = 0;
};

// The one that the functions play, as new.
FakeKernel& NewFakeKernel();
FakeKernel& CurrentFakeKernel();

// Waits until all events are played.
void WaitUntilPlayed();

// The path of the test program.
std::filesystem::path FakeLibrary();

}  // namespace leakgate::test
