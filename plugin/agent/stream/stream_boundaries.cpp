#include "plugin/agent/stream/stream_boundaries.h"

#include <utility>

#include "plugin/agent/host/on_switch.h"
#include "plugin/agent/record/recorder.h"
#include "plugin/agent/stream/event_strings.h"
#include "plugin/agent/windows/windows.h"

namespace leakgate::agent {
namespace {

constexpr std::uint32_t kMaxNameBytes = 4096;

// The stream's position in the run. One test thread, so one state.
struct StreamState {
  std::uint32_t span = 0;  // the span of tracing to which the windows belong
  std::uint32_t iteration = 1;
  std::uint32_t suite_window = 0;
  std::uint32_t test_window = 0;
  std::uint32_t suite_length = 0;
  bool has_ended = false;    // the last event is the program's end
  char name[kMaxNameBytes];  // "Suite", or "Suite.Test"
};
constinit StreamState g_stream{};

std::string_view ValueOf(std::string_view line, std::string_view key) {
  while (!line.empty()) {
    std::size_t end = 0;
    while (end < line.size() && line[end] != '&') ++end;
    const std::string_view field(line.data(), end);
    if (field.size() > key.size() && field.starts_with(key) && field[key.size()] == '=') {
      return {field.data() + key.size() + 1, field.size() - key.size() - 1};
    }
    line.remove_prefix(end < line.size() ? end + 1 : end);
  }
  return {};
}

// An event begins with its kind.
std::string_view KindOf(std::string_view event) {
  return event.starts_with("event=") ? ValueOf(event, "event") : std::string_view();
}

// GoogleTest writes a name unescaped at the end of the event: any '&', '%' and line end in it
// belong to the name.
std::string_view NameIn(std::string_view event) {
  constexpr std::string_view kKey = "&name=";
  const std::size_t at = event.find(kKey);
  if (at == std::string_view::npos) return {};
  event.remove_prefix(at + kKey.size());  // substr could throw, and would need the C++ library
  return event;
}

// Writes `name` at `at` into the state's name. Returns the new length.
std::uint32_t Append(std::string_view name, std::uint32_t at) {
  for (std::size_t i = 0; i < name.size() && at < kMaxNameBytes; ++i) g_stream.name[at++] = name[i];
  return at;
}

void OnIterationStart(std::string_view line) {
  std::uint32_t iteration = 0;
  for (const char digit : ValueOf(line, "iteration")) {
    iteration = iteration * 10 + static_cast<std::uint32_t>(digit - '0');
  }
  g_stream.iteration = iteration + 1;
}

// GoogleTest's strings for the present event may still be in the live map: what is to be counted at
// a boundary is counted once they are gone.
std::uint32_t Open(Recording recording, WindowKind kind, std::uint32_t name_length) {
  const std::uint32_t window = OpenWindow({.kind = kind,
                                           .name = {g_stream.name, name_length},
                                           .file = {},
                                           .iteration = g_stream.iteration});
  OpenWindowUnsettled(recording, window);
  return window;
}

void Close(Recording recording, std::uint32_t& window, TestResult result) {
  CloseWindowUnsettled(recording, window, result);
  window = 0;
}

void OnSuiteStart(Recording recording, std::string_view line) {
  g_stream.suite_length = Append(NameIn(line), 0);
  g_stream.suite_window = Open(recording, WindowKind::kSuite, g_stream.suite_length);
}

void OnTestStart(Recording recording, std::string_view line) {
  std::uint32_t length = g_stream.suite_length;
  if (length < kMaxNameBytes) g_stream.name[length++] = '.';
  length = Append(NameIn(line), length);
  g_stream.test_window = Open(recording, WindowKind::kTest, length);
}

void OnTestEnd(Recording recording, std::string_view line) {
  const bool passed = ValueOf(line, "passed") == "1";
  Close(recording, g_stream.test_window, passed ? TestResult::kPassed : TestResult::kNotPassed);
}

void OnLine(Recording recording, std::string_view line) {
  const std::string_view event = KindOf(line);
  if (event == "TestIterationStart") return OnIterationStart(line);
  if (event == "TestCaseStart") return OnSuiteStart(recording, line);
  if (event == "TestStart") return OnTestStart(recording, line);
  if (event == "TestEnd") return OnTestEnd(recording, line);
  if (event == "TestIterationEnd") return EndIterationUnsettled(recording, g_stream.iteration);
  if (event == "TestCaseEnd") Close(recording, g_stream.suite_window, TestResult::kUnknown);
}

bool IsBoundary(std::string_view text) {
  return text.starts_with("event=") && KindOf(text) != "TestPartResult";
}

// A fork child that is traced has inherited numbers of its parent's windows, which are invalid.
void EnterSpan() {
  if (g_stream.span == g_span) return;
  g_stream.span = g_span;
  g_stream.suite_window = g_stream.test_window = 0;
}

bool ListenerTellsBoundaries() {
  return g_region.header().boundaries.load(std::memory_order_relaxed) ==
         static_cast<std::uint32_t>(BoundarySource::kListener);
}

}  // namespace

bool StreamHasEnded() { return std::exchange(g_stream.has_ended, false); }

bool WantsStream() {
  if (!IsTracing()) return false;
  const RegionHeader& header = g_region.header();
  return header.asks_for_stream != 0 && header.boundaries.load(std::memory_order_relaxed) ==
                                            static_cast<std::uint32_t>(BoundarySource::kNone);
}

void OnStreamConnected() {
  if (!IsTracing() || ListenerTellsBoundaries()) return;
  g_region.header().boundaries.store(static_cast<std::uint32_t>(BoundarySource::kStream),
                                     std::memory_order_relaxed);
}

void OnStreamWrite(std::string_view text) {
  g_stream.has_ended = text.starts_with("event=TestProgramEnd");
  if (!IsTracing() || ListenerTellsBoundaries() || !CanRecord()) return;
  EnterSpan();
  OnStreamConnected();  // in a fork child, the parent has connected
  {
    const RecordingGuard guard;
    SettleWindows(guard);
    const bool is_boundary = IsBoundary(text);
    const bool has_forgotten = is_boundary && ForgetEventStrings(guard, text);
    if (text.ends_with('\n')) text.remove_suffix(1);
    if (is_boundary) OnLine(guard, text);
    if (has_forgotten) SettleWindows(guard);
  }
  NoteUnsettled();
}

}  // namespace leakgate::agent
