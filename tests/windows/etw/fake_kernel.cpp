#include "tests/windows/etw/fake_kernel.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

namespace leakgate::test {
namespace {

FakeKernel fake;
std::mutex mutex;  // of `fake`'s notes
EVENT_TRACE_LOGFILEW log_file;
HANDLE limited = CreateEventW(nullptr, TRUE, FALSE, nullptr);
HANDLE played = CreateEventW(nullptr, TRUE, FALSE, nullptr);
HANDLE stopped = CreateEventW(nullptr, TRUE, FALSE, nullptr);

void Note(const char* call) {
  if (fake.on_call && std::strcmp(call, "flush") != 0) fake.on_call(call);
  const std::lock_guard lock(mutex);
  // How often one flushes is a matter of time.
  if (fake.calls.empty() || fake.calls.back() != call) fake.calls.emplace_back(call);
}

void Play(const MadeEvent& made) {
  EVENT_RECORD record = {};
  EVENT_HEADER& header = record.EventHeader;
  std::memcpy(&header.ProviderId, &made.event.provider, sizeof(header.ProviderId));
  header.EventDescriptor.Opcode = made.event.opcode;
  header.ProcessId = made.event.process;
  header.ThreadId = made.event.thread;
  header.TimeStamp.QuadPart = static_cast<LONGLONG>(made.event.time);
  header.Flags = made.event.pointer_bytes == 4 ? EVENT_HEADER_FLAG_32_BIT_HEADER
                                               : EVENT_HEADER_FLAG_64_BIT_HEADER;
  std::vector<std::byte> payload = made.payload;
  record.UserData = payload.data();
  record.UserDataLength = static_cast<USHORT>(payload.size());
  record.UserContext = log_file.Context;
  log_file.EventRecordCallback(&record);
}

ULONG Begin(TRACEHANDLE* session, const wchar_t* name, std::vector<ULONG> processes,
            std::vector<int> opcodes) {
  for (const HANDLE event : {limited, played, stopped}) ResetEvent(event);
  const bool is_first = fake.processes_at_start.empty();
  fake.name = name;
  fake.processes_at_start = std::move(processes);
  fake.stack_opcodes = std::move(opcodes);
  *session = 77;
  return is_first ? fake.start_error : fake.second_start_error;
}

}  // namespace

FakeKernel& NewFakeKernel() {
  for (const HANDLE event : {limited, played, stopped}) ResetEvent(event);
  fake = {};
  return fake;
}

FakeKernel& CurrentFakeKernel() { return fake; }

void WaitUntilPlayed() { WaitForSingleObject(played, INFINITE); }

std::filesystem::path FakeLibrary() {
  std::wstring path(32768, L'\0');
  path.resize(GetModuleFileNameW(nullptr, path.data(), static_cast<DWORD>(path.size())));
  return path;
}

extern "C" {
#define LEAKGATE_FAKE(name) __attribute__((dllexport)) name
ULONG WINAPI FakeStart(TRACEHANDLE* session, EVENT_TRACE_PROPERTIES*, const wchar_t* name,
                       const ULONG* processes, ULONG process_count, const StackTracingEvent* stacks,
                       ULONG stack_count) __asm__("StartHeapTrace");
ULONG WINAPI FakePlainStart(TRACEHANDLE* session, const wchar_t* name,
                            EVENT_TRACE_PROPERTIES* properties) __asm__("StartTraceW");
ULONG WINAPI FakeUpdate(EVENT_TRACE_PROPERTIES*, const wchar_t* name, const ULONG* processes,
                        ULONG process_count, const StackTracingEvent*,
                        ULONG) __asm__("UpdateHeapTrace");
ULONG WINAPI FakeControl(TRACEHANDLE, const wchar_t*, EVENT_TRACE_PROPERTIES* properties,
                         ULONG code) __asm__("ControlTraceW");
TRACEHANDLE WINAPI FakeOpen(EVENT_TRACE_LOGFILEW* log) __asm__("OpenTraceW");
ULONG WINAPI FakeProcess(TRACEHANDLE*, ULONG, FILETIME*, FILETIME*) __asm__("ProcessTrace");
ULONG WINAPI FakeClose(TRACEHANDLE) __asm__("CloseTrace");

LEAKGATE_FAKE(ULONG)
WINAPI FakeStart(TRACEHANDLE* session, EVENT_TRACE_PROPERTIES*, const wchar_t* name,
                 const ULONG* processes, ULONG process_count, const StackTracingEvent* stacks,
                 ULONG stack_count) {
  Note("start");
  std::vector<int> opcodes;
  for (ULONG i = 0; i < stack_count; ++i) opcodes.push_back(stacks[i].opcode);
  return Begin(session, name, {processes, processes + process_count}, std::move(opcodes));
}

// Reads its extension as the system does.
LEAKGATE_FAKE(ULONG)
WINAPI FakePlainStart(TRACEHANDLE* session, const wchar_t* name,
                      EVENT_TRACE_PROPERTIES* properties) {
  Note("start plain");
  constexpr ULONG kFlags = 0x80ff'0000;
  if ((properties->EnableFlags & 0xffff'0000) != kFlags ||
      std::memcmp(&properties->Wnode.Guid, &kHeapProvider, sizeof(GUID)) != 0) {
    return ERROR_INVALID_FLAGS;
  }
  const auto* word = reinterpret_cast<const std::uint32_t*>(
      reinterpret_cast<const std::byte*>(properties) + (properties->EnableFlags & 0xffff));
  std::vector<ULONG> processes;
  std::vector<int> opcodes;
  const std::uint32_t* const end = word + (*word & 0xffff);
  for (++word; word < end; word += *word & 0xffff) {
    for (std::uint32_t i = 1; i < (*word & 0xffff); ++i) {
      const bool is_process = *word >> 16 == 2;
      if (is_process) processes.push_back(word[i]);
      if (!is_process) opcodes.push_back(static_cast<int>(word[i] & 0xff));
    }
  }
  return Begin(session, name, std::move(processes), std::move(opcodes));
}

LEAKGATE_FAKE(ULONG)
WINAPI FakeUpdate(EVENT_TRACE_PROPERTIES*, const wchar_t*, const ULONG* processes,
                  ULONG process_count, const StackTracingEvent*, ULONG) {
  Note("update");
  fake.processes_at_update.assign(processes, processes + process_count);
  SetEvent(limited);
  return fake.update_error;
}

LEAKGATE_FAKE(ULONG)
WINAPI FakeControl(TRACEHANDLE, const wchar_t*, EVENT_TRACE_PROPERTIES* properties, ULONG code) {
  Note(code == EVENT_TRACE_CONTROL_STOP ? "stop" : "flush");
  if (code != EVENT_TRACE_CONTROL_STOP) return ERROR_SUCCESS;
  properties->EventsLost = std::exchange(fake.lost_events, fake.second_lost_events);
  properties->LogBuffersLost = std::exchange(fake.lost_buffers, 0);
  properties->RealTimeBuffersLost = std::exchange(fake.lost_real_time_buffers, 0);
  SetEvent(stopped);
  return fake.stop_error;
}

LEAKGATE_FAKE(TRACEHANDLE) WINAPI FakeOpen(EVENT_TRACE_LOGFILEW* log) {
  Note("open");
  log_file = *log;
  fake.read_mode = log->ProcessTraceMode;
  return 88;
}

LEAKGATE_FAKE(ULONG) WINAPI FakeProcess(TRACEHANDLE*, ULONG, FILETIME*, FILETIME*) {
  const bool is_own_asked = std::ranges::find(fake.processes_at_start, GetCurrentProcessId()) !=
                            fake.processes_at_start.end();
  if (fake.tells_own_events && is_own_asked) {
    Play(EventMaker(GetCurrentProcessId()).Allocate(1, 0x500, 1234));
  }
  const HANDLE either[] = {limited, stopped};
  const bool is_for_program =
      !is_own_asked || WaitForMultipleObjects(2, either, FALSE, INFINITE) == WAIT_OBJECT_0;
  if (is_for_program) {
    for (const MadeEvent& event : fake.events) Play(event);
    SetEvent(played);
  }
  if (fake.ends_early) return ERROR_SUCCESS;
  WaitForSingleObject(stopped, INFINITE);
  if (fake.events_at_stop) {
    for (const MadeEvent& event : fake.events_at_stop()) Play(event);
  }
  return ERROR_SUCCESS;
}

LEAKGATE_FAKE(ULONG) WINAPI FakeClose(TRACEHANDLE) {
  Note("close");
  return ERROR_SUCCESS;
}
}

}  // namespace leakgate::test
