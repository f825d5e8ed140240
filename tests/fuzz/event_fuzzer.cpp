// GoogleTest's stream of events, whose names are the test binary's own and are not escaped:
// whatever comes in whatever order, the agent opens windows of just these names.
//
// An input is a row of events, each ended by an empty line: names may hold a line end.
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "plugin/agent/base/region.h"
#include "plugin/agent/stream/stream_boundaries.h"
#include "tests/fuzz/sample_region.h"

namespace {

using namespace leakgate;

constexpr std::string_view kSuiteStart = "event=TestCaseStart";
constexpr std::string_view kTestStart = "event=TestStart";
constexpr std::size_t kMaxNameBytes = 4096;

bool IsOf(std::string_view event, std::string_view kind) {
  return event.starts_with(kind) && (event.size() == kind.size() || event[kind.size()] == '&');
}

std::string NameIn(std::string_view event) {
  if (event.ends_with('\n')) event.remove_suffix(1);
  const std::size_t at = event.find("&name=");
  return at == std::string_view::npos ? "" : std::string(event.substr(at + 6));
}

// The names that windows should have.
class Model {
 public:
  // None if the event begins no window.
  std::optional<std::string> Take(std::string_view event) {
    if (IsOf(event, kSuiteStart)) return suite_ = NameIn(event).substr(0, kMaxNameBytes);
    if (!IsOf(event, kTestStart)) return std::nullopt;
    return (suite_ + '.' + NameIn(event)).substr(0, kMaxNameBytes);
  }

 private:
  std::string suite_;
};

// Each input finds the windows and names of the sample, and no more.
class FreshWindows {
 public:
  void Begin() {
    RegionHeader& header = agent::g_region.header();
    if (windows_ == 0) {
      windows_ = header.window_count;
      text_bytes_ = header.text_bytes;
      return;
    }
    WindowRecord* const first = agent::g_region.windows() + windows_;
    std::memset(static_cast<void*>(first), 0, (header.window_count - windows_) * sizeof *first);
    header.window_count = windows_;
    header.text_bytes = text_bytes_;
  }

 private:
  std::uint32_t windows_ = 0;  // of the sample; 0: not known yet
  std::uint32_t text_bytes_ = 0;
};

// As GoogleTest would end what the input has left open.
void EndAll() {
  agent::OnStreamWrite("event=TestEnd&passed=1&elapsed_time=0ms\n");
  agent::OnStreamWrite("event=TestCaseEnd&passed=1&elapsed_time=0ms\n");
  agent::OnStreamWrite("event=TestIterationEnd&passed=1&elapsed_time=0ms\n");
}

std::string_view TakeEvent(std::string_view& input) {
  const std::size_t end = input.find("\n\n");
  const std::string_view event = input.substr(0, end);
  input.remove_prefix(end == std::string_view::npos ? input.size() : end + 2);
  return event;
}

void Check(const RegionReader& region, std::uint32_t before, std::string_view event, Model& model) {
  const std::uint32_t after = region.WindowCount();
  const std::optional<std::string> name = model.Take(event);
  if (after > before + 1 || (name && after == before)) __builtin_trap();
  if (name && region.Window(before).name != *name) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const RegionReader& region = fuzz::SampleRegion().reader();
  std::string_view input(reinterpret_cast<const char*>(bytes), size);
  static FreshWindows windows;
  windows.Begin();
  Model model;
  agent::OnStreamWrite("event=TestCaseStart&name=\n");  // no suite of the input before
  while (!input.empty()) {
    const std::string_view event = TakeEvent(input);
    const std::uint32_t before = region.WindowCount();
    agent::OnStreamWrite(event);
    Check(region, before, event, model);
  }
  EndAll();
  return 0;
}
