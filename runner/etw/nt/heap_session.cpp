#include "runner/etw/nt/heap_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

#include "runner/etw/start_extension.h"

namespace leakgate {
namespace {

constexpr SIZE_T kProbeBytes = 1234;
constexpr DWORD kProbePauseMs = 100;
constexpr DWORD kLastEventsMs = 10'000;

// The session's times and those in stacks' payloads are of one clock only if they are left raw.
constexpr ULONG kReadMode = PROCESS_TRACE_MODE_REAL_TIME | PROCESS_TRACE_MODE_EVENT_RECORD |
                            PROCESS_TRACE_MODE_RAW_TIMESTAMP;

std::array<StackTracingEvent, 2> StacksOfAllocations() {
  std::array<StackTracingEvent, 2> events = {};
  events[0].opcode = static_cast<UCHAR>(HeapOpcode::kAllocate);
  events[1].opcode = static_cast<UCHAR>(HeapOpcode::kReallocate);
  for (StackTracingEvent& event : events) event.provider = std::bit_cast<GUID>(kHeapProvider);
  return events;
}

TraceEvent EventOf(const EVENT_RECORD& record) {
  const EVENT_HEADER& header = record.EventHeader;
  return {.provider = std::bit_cast<EventProvider>(header.ProviderId),
          .opcode = header.EventDescriptor.Opcode,
          .pointer_bytes = static_cast<std::uint8_t>(
              (header.Flags & EVENT_HEADER_FLAG_32_BIT_HEADER) != 0 ? 4 : 8),
          .process = header.ProcessId,
          .thread = header.ThreadId,
          .time = static_cast<std::uint64_t>(header.TimeStamp.QuadPart),
          .payload = {static_cast<const std::byte*>(record.UserData), record.UserDataLength}};
}

// What `error` of StartHeapTrace means, and what helps.
Error StartError(ULONG error, const HeapSessionBuffers& buffers) {
  const auto line = [&](std::string_view what, std::string_view remedy) {
    return Error{
        fmt::format("cannot start Windows' heap tracing: {} (error {}); {}, or let "
                    "leakgate's agent trace",
                    what, error, remedy)};
  };
  switch (error) {
    case ERROR_ALREADY_EXISTS:
      return line("another recording uses the kernel logger or the session's name",
                  "end it, as by `wpr -cancel` or `logman stop NAME -ets`");
    case ERROR_INVALID_FLAGS:
      return line("its flags are not known to this Windows",
                  "install the Windows Performance Toolkit of this Windows' version");
    case ERROR_OUTOFMEMORY:
    case ERROR_NOT_ENOUGH_MEMORY:
      return line(fmt::format("there is no memory for {} buffers of {} KiB", buffers.least,
                              buffers.buffer_kib),
                  "ask for fewer or smaller buffers");
    case ERROR_ACCESS_DENIED:
      return line("only administrators may", "run leakgate as an administrator");
    default:
      return line(WindowsErrorText(error), "correct that");
  }
}

}  // namespace

HeapSession::HeapSession(const TraceCalls& calls, HeapTrace earlier,
                         const HeapSessionBuffers& buffers)
    : calls_(calls),
      buffers_(buffers),
      process_(earlier.process()),
      name_(WideOf(fmt::format("leakgate-{}-{}", GetCurrentProcessId(), process_))),
      verified_(OwnHandle(CreateEventW(nullptr, TRUE, FALSE, nullptr))),
      read_all_(OwnHandle(CreateEventW(nullptr, TRUE, FALSE, nullptr))),
      trace_(std::move(earlier)) {}

HeapSession::~HeapSession() {
  if (is_running_) Control(EVENT_TRACE_CONTROL_STOP);
  EndReading();
}

Expected<std::unique_ptr<HeapSession>> HeapSession::Start(const TraceCalls& calls,
                                                          HeapTrace earlier,
                                                          const HeapSessionBuffers& buffers) {
  std::unique_ptr<HeapSession> session(new HeapSession(calls, std::move(earlier), buffers));
  const std::array<DWORD, 2> processes = {session->process_, GetCurrentProcessId()};
  const bool is_own = processes[0] == processes[1];
  LEAKGATE_TRY(session->Begin(std::span(processes).first(is_own ? 1 : 2)));
  return session;
}

Expected<void> HeapSession::Begin(std::span<const DWORD> processes) {
  properties_ = {};
  EVENT_TRACE_PROPERTIES& values = properties_.values;
  values.Wnode.BufferSize = sizeof(Properties);
  values.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
  values.Wnode.ClientContext = 1;  // times are of the performance counter
  values.LogFileMode = EVENT_TRACE_REAL_TIME_MODE;
  values.BufferSize = buffers_.buffer_kib;
  values.MinimumBuffers = buffers_.least;
  values.MaximumBuffers = buffers_.most;
  values.FlushTimer = 1;  // second
  values.LoggerNameOffset = offsetof(Properties, name);
  const ULONG error = Ask(processes);
  if (error != ERROR_SUCCESS) return Unexpected(StartError(error, buffers_));
  is_running_ = true;
  return Open();
}

ULONG HeapSession::Ask(std::span<const DWORD> processes) {
  if (calls_.start != nullptr) {
    const auto stacks = StacksOfAllocations();
    return calls_.start(&session_, &properties_.values, name_.c_str(), processes.data(),
                        static_cast<ULONG>(processes.size()), stacks.data(),
                        static_cast<ULONG>(stacks.size()));
  }
  const std::vector<std::uint32_t> pids(processes.begin(), processes.end());
  const std::array stacks = {kHeapStackGroup | static_cast<std::uint32_t>(HeapOpcode::kAllocate),
                             kHeapStackGroup | static_cast<std::uint32_t>(HeapOpcode::kReallocate)};
  const std::vector<std::uint32_t> extension = MakeStartExtension(pids, stacks);
  std::copy(extension.begin(), extension.end(), properties_.extension);
  properties_.values.Wnode.Guid = std::bit_cast<GUID>(kHeapProvider);
  properties_.values.EnableFlags =
      kHasStartExtension | static_cast<ULONG>(offsetof(Properties, extension));
  return calls_.start_plain(&session_, name_.c_str(), &properties_.values);
}

Expected<void> HeapSession::Open() {
  EVENT_TRACE_LOGFILEW log = {};
  log.LoggerName = name_.data();
  log.ProcessTraceMode = kReadMode;
  log.EventRecordCallback = OnEvent;
  log.Context = this;
  consumer_ = calls_.open(&log);
  if (consumer_ == INVALID_PROCESSTRACE_HANDLE) {
    return InconclusiveError(fmt::format(
        "cannot read Windows' heap trace: {}; let leakgate's agent trace", WindowsErrorText()));
  }
  ResetEvent(HandleOf(read_all_));
  reader_ = std::thread([this] {
    calls_.process(&consumer_, 1, nullptr, nullptr);
    SetEvent(HandleOf(read_all_));
  });
  return {};
}

void HeapSession::OnEvent(EVENT_RECORD* record) {
  auto& session = *static_cast<HeapSession*>(record->UserContext);
  const TraceEvent event = EventOf(*record);
  if (event.provider == kHeapProvider && event.process == GetCurrentProcessId()) {
    SetEvent(HandleOf(session.verified_));  // allocates nothing: that would be the next event
  } else {
    session.trace_.Add(event);
  }
}

Expected<void> HeapSession::Verify(DWORD timeout_ms) {
  DWORD waited_ms = 0;
  DWORD outcome = WAIT_TIMEOUT;
  while (outcome == WAIT_TIMEOUT && waited_ms < timeout_ms) {
    HeapFree(GetProcessHeap(), 0, HeapAlloc(GetProcessHeap(), 0, kProbeBytes));
    Control(EVENT_TRACE_CONTROL_FLUSH);
    outcome = WaitForSingleObject(HandleOf(verified_), kProbePauseMs);
    waited_ms += kProbePauseMs;
  }
  if (outcome != WAIT_OBJECT_0) {
    return InconclusiveError(
        fmt::format("Windows' heap tracing told nothing within {} ms, not even of leakgate's own "
                    "heap; let leakgate's agent trace",
                    timeout_ms));
  }
  return LimitToProcess();
}

// StartTrace's sessions cannot be changed, so one for the process alone takes the place of this
// one.
Expected<void> HeapSession::LimitToProcess() {
  const std::array<DWORD, 1> process = {process_};
  if (calls_.update == nullptr) {
    Control(EVENT_TRACE_CONTROL_STOP);
    is_running_ = false;
    EndReading();
    return Begin(process);
  }
  const auto stacks = StacksOfAllocations();
  const ULONG error = calls_.update(&properties_.values, name_.c_str(), process.data(), 1,
                                    stacks.data(), static_cast<ULONG>(stacks.size()));
  if (error != ERROR_SUCCESS) {
    return InconclusiveError(
        fmt::format("cannot limit Windows' heap tracing to the program: {} (error {}); let "
                    "leakgate's agent trace",
                    WindowsErrorText(error), error));
  }
  return {};
}

bool HeapSession::HasEnded() const {
  return WaitForSingleObject(HandleOf(read_all_), 0) == WAIT_OBJECT_0;
}

Expected<HeapTrace> HeapSession::Stop() {
  const bool has_ended_early = HasEnded();
  Control(EVENT_TRACE_CONTROL_FLUSH);
  const ULONG error = Control(EVENT_TRACE_CONTROL_STOP);
  is_running_ = false;
  const bool has_read_all = EndReading();
  if (has_ended_early || error != ERROR_SUCCESS) {
    return InconclusiveError(
        fmt::format("Windows' heap trace ended before the program did (error {}); see that no "
                    "other program stops the session {}",
                    error, Utf8Of(name_)));
  }
  if (!has_read_all) {
    return InconclusiveError(
        fmt::format("Windows' heap trace could not be read to its end within {} s; run again while "
                    "the machine does less",
                    kLastEventsMs / 1000));
  }
  const EVENT_TRACE_PROPERTIES& counted = properties_.values;
  trace_.AddLost(counted.EventsLost,
                 std::uint64_t{counted.LogBuffersLost} + counted.RealTimeBuffersLost);
  trace_.Finish();
  return std::move(trace_);
}

ULONG HeapSession::Control(ULONG code) {
  return calls_.control(session_, name_.c_str(), &properties_.values, code);
}

bool HeapSession::EndReading() {
  // The reader ends by itself once it has read what the stopped session held.
  const bool has_read_all =
      !reader_.joinable() ||
      WaitForSingleObject(HandleOf(read_all_), kLastEventsMs) == WAIT_OBJECT_0;
  if (consumer_ != INVALID_PROCESSTRACE_HANDLE) calls_.close(consumer_);
  consumer_ = INVALID_PROCESSTRACE_HANDLE;
  if (reader_.joinable()) reader_.join();
  return has_read_all;
}

}  // namespace leakgate
