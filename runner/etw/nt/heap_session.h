// A session of Windows' heap tracing for one process, from before its first instruction to its end:
//
//   (suspended)   the caller has created the process so
//   Start         the session tells of that process' heaps, and of leakgate's own; a thread reads
//   Verify        leakgate allocates until an event of that arrives: a session that tells nothing
//                 is noticed before anything runs. From then on only the process is traced
//   (resumed)     the caller lets the process run, and waits for its end
//   Stop          what the session still holds is read; what it lost is counted
//
// A process that is held somewhere may be traced by one session until then, and by another one from
// there on, which goes on with what the first one has found.
//
// All are called on one thread. The session ends with this object at the latest; its name has the
// PIDs of both processes, so runs beside each other do not meet.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <thread>

#include "runner/base/descriptors.h"
#include "runner/base/expected.h"
#include "runner/etw/heap_trace.h"
#include "runner/etw/nt/trace_calls.h"

namespace leakgate {

// Events are lost where these are too few or too small.
struct HeapSessionBuffers {
  ULONG buffer_kib = 1024;
  ULONG least = 64;
  ULONG most = 512;
};

class HeapSession {
 public:
  // Fails with one line that tells what to do. `earlier` is what earlier sessions have told.
  // REQUIRES: the process does not run.
  [[nodiscard]] static Expected<std::unique_ptr<HeapSession>> Start(
      const TraceCalls& calls, HeapTrace earlier, const HeapSessionBuffers& buffers = {});
  ~HeapSession();
  HeapSession(const HeapSession&) = delete;
  HeapSession& operator=(const HeapSession&) = delete;

  // Waits for at most `timeout_ms`. Fails if no event arrived.
  [[nodiscard]] Expected<void> Verify(DWORD timeout_ms = 5000);

  // Whether nothing more is read: the session has ended by itself, or by another's hand.
  [[nodiscard]] bool HasEnded() const;

  // What the process left. Fails if the session did not last until now. Call it once.
  [[nodiscard]] Expected<HeapTrace> Stop();

  const std::wstring& name() const { return name_; }

 private:
  HeapSession(const TraceCalls& calls, HeapTrace earlier, const HeapSessionBuffers& buffers);

  static void WINAPI OnEvent(EVENT_RECORD* record);
  [[nodiscard]] Expected<void> Begin(std::span<const DWORD> processes);
  ULONG Ask(std::span<const DWORD> processes);
  [[nodiscard]] Expected<void> Open();
  [[nodiscard]] Expected<void> LimitToProcess();
  ULONG Control(ULONG code);
  // Returns whether all was read.
  bool EndReading();

  // EVENT_TRACE_PROPERTIES has the name behind it, and what StartTrace is asked for.
  struct Properties {
    EVENT_TRACE_PROPERTIES values;
    wchar_t name[128];
    std::uint32_t extension[16];
  };

  TraceCalls calls_;
  HeapSessionBuffers buffers_;
  DWORD process_;
  std::wstring name_;
  Properties properties_ = {};
  TRACEHANDLE session_ = 0;
  TRACEHANDLE consumer_ = INVALID_PROCESSTRACE_HANDLE;
  UniqueFd verified_;  // an event; the reading thread sets it, and at its end
  UniqueFd read_all_;  // this one
  HeapTrace trace_;    // the reading thread's, until it has ended
  std::thread reader_;
  bool is_running_ = false;
};

}  // namespace leakgate
