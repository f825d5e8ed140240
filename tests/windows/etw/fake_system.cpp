// leakgate with a fake kernel in the place of Windows' event tracing: it tells of the program's
// heap what the program itself writes down (told_events.h), and fails, loses and waits as the words
// of LEAKGATE_FAKE_KERNEL say, "lost_events=5 cut".
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/windows/etw/fake_kernel.h"
#include "tests/windows/etw/told_events.h"

namespace leakgate {
namespace {

using test::EventMaker;
using test::MadeEvent;
using test::ToldEvent;

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

// The value of a word, 1 if it has none; nothing if it is not there.
std::optional<ULONG> ValueOf(std::string_view wanted) {
  std::istringstream words(Variable("LEAKGATE_FAKE_KERNEL"));
  for (std::string word; words >> word;) {
    const std::size_t end = word.find('=');
    if (word.substr(0, end) != wanted) continue;
    return end == std::string::npos ? 1 : std::stoul(word.substr(end + 1));
  }
  return std::nullopt;
}

void AddEvents(const ToldEvent& told, ULONG process, std::vector<MadeEvent>& to) {
  EventMaker make(process);
  make.thread = told.thread;
  switch (told.opcode) {
    case 0x21:
      to.push_back(make.Allocate(told.time, told.address, told.size_bytes, told.heap));
      to.push_back(make.Stack(told.time, std::span(told.frames, told.frame_count)));
      break;
    case 0x23:
      to.push_back(make.DestroyHeap(told.time, told.heap));
      break;
    case 0x24:
      to.push_back(make.Free(told.time, told.address, told.heap));
      break;
  }
}

// Those that were told since the last call.
std::vector<MadeEvent> TakeTold() {
  static std::streamoff taken = 0;
  const test::FakeKernel& fake = test::CurrentFakeKernel();
  const ULONG process = fake.processes_at_start.front();
  std::ifstream file(Variable(test::kToldEventsVariable), std::ios::binary);
  file.seekg(taken);
  std::vector<MadeEvent> events;
  ToldEvent told;
  while (file.read(reinterpret_cast<char*>(&told), sizeof(told))) {
    taken += static_cast<std::streamoff>(sizeof(told));
    AddEvents(told, process, events);
  }
  if (events.empty()) return events;
  if (ValueOf("cut")) events.front().payload.resize(9);
  if (ValueOf("reordered")) std::reverse(events.begin(), events.end());
  if (ValueOf("without_stacks")) {
    std::erase_if(events,
                  [](const MadeEvent& made) { return made.event.provider == kStackProvider; });
  }
  if (ValueOf("lost_in_stream")) {
    events.push_back(EventMaker(0).Make(kLossProvider, kLostBufferOpcode, 1));
  }
  return events;
}

// Writes each call into a file. Waits in one of them, and says so, so that a test can interrupt it
// there: by "linger_at=3" in the third.
void OnCall(const char* call) {
  static ULONG calls = 0;
  std::ofstream(Variable(test::kToldEventsVariable) + ".calls", std::ios::app) << call << '\n';
  if (ValueOf("linger_at") != ++calls) return;
  std::fputs("lingers\n", stdout);
  std::fflush(stdout);
  Sleep(2000);
}

}  // namespace

Expected<TraceCalls> SystemTraceCalls() {
  test::FakeKernel& fake = test::NewFakeKernel();
  fake.start_error = ValueOf("start_error").value_or(ERROR_SUCCESS);
  fake.second_start_error = ValueOf("second_start_error").value_or(ERROR_SUCCESS);
  fake.update_error = ValueOf("update_error").value_or(ERROR_SUCCESS);
  fake.stop_error = ValueOf("stop_error").value_or(ERROR_SUCCESS);
  fake.lost_events = ValueOf("lost_events").value_or(0);
  fake.second_lost_events = ValueOf("second_lost_events").value_or(0);
  fake.lost_buffers = ValueOf("lost_buffers").value_or(0);
  fake.lost_real_time_buffers = ValueOf("lost_real_time_buffers").value_or(0);
  fake.tells_own_events = !ValueOf("silent");
  fake.ends_early = ValueOf("ends_early").has_value();
  fake.events_at_stop = TakeTold;
  fake.on_call = OnCall;
  if (ValueOf("missing")) return LoadTraceCalls(L"C:\\nowhere\\KernelTraceControl.dll");
  return LoadTraceCalls(ValueOf("plain") ? std::filesystem::path() : test::FakeLibrary(),
                        test::FakeLibrary());
}

}  // namespace leakgate
