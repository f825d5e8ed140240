// Any bytes as a recording: an error or a recording, and nothing else; what is counted of it, too.
// Built with Clang's libFuzzer and sanitizers; tests/fuzz/run builds it, and lets it run for a
// while.
//
// Random bytes do not get past the checksums, so the input is taken in two ways: as a whole file;
// and as the plain texts of parts, which are given the right checksums.
#include <algorithm>
#include <cstdint>
#include <set>
#include <sstream>
#include <string>

#include "runner/recording/file/read_recording.h"
#include "runner/recording/file/recording_records.h"
#include "runner/recording/view/recording_view.h"
#include "runner/snapshot/file/parts.h"
#include "runner/snapshot/file/records.h"

namespace {

using namespace leakgate;
using namespace leakgate::snapshot_format;

// What a visitor was given, and may rely on.
struct Given {
  std::uint64_t nodes = kStackRootCount;
  std::uint64_t marks = 0;
  std::uint64_t events = 0;
  std::set<std::uint32_t> windows = {0};
  std::set<std::uint32_t> threads = {0};

  void Check(const RecordedEvent& event) {
    if (event.stack >= nodes) __builtin_trap();
    if (!threads.contains(event.thread) || !windows.contains(event.window)) __builtin_trap();
    if (event.kind == RecordedKind::kMark && event.mark >= marks) __builtin_trap();
    if (event.kind != RecordedKind::kLost) ++events;
  }
};

void Read(const std::string& file) {
  Given given;
  RecordingVisitor visitor;
  visitor.nodes = [&](std::span<const SnapshotNode> nodes) {
    for (const SnapshotNode& node : nodes) {
      if (node.parent >= given.nodes++) __builtin_trap();
    }
  };
  visitor.window = [&](SnapshotWindow&& window) { given.windows.insert(window.id); };
  visitor.thread = [&](SnapshotThread&& thread) { given.threads.insert(thread.id); };
  visitor.mark = [&](std::string&&) { ++given.marks; };
  visitor.events = [&](std::span<const RecordedEvent> events) {
    for (const RecordedEvent& event : events) given.Check(event);
    return Expected<void>();
  };
  std::istringstream in(file);
  const Expected<void> read = ReadRecording(in, "fuzz", visitor);
  if (!read && read.error().message.empty()) __builtin_trap();
}

// Counts it, as commands do.
void View(const std::string& file) {
  RecordingView view({.commits = 3});
  const RecordingSource source = [&](const RecordingVisitor& visitor) {
    std::istringstream in(file);
    return ReadRecording(in, "fuzz", visitor);
  };
  if (!view.Read(source, "fuzz")) return;
  for (std::uint32_t stack = 0; stack < 64; ++stack) (void)view.stacks().Matches(stack);
}

// Each part: its kind, its length in two bytes, its text.
std::string MadeOf(std::string_view input) {
  std::ostringstream out;
  PartWriter writer(out, kRecordingFile);
  ByteWriter record;
  Encode(SnapshotFacts{}, record);
  writer.Write(PartKind::kFacts, record.bytes());
  record.Clear();
  recording_format::Encode(RecordingFacts{}, record);
  writer.Write(PartKind::kRecordingFacts, record.bytes());
  while (input.size() >= 3) {
    const auto at = [&](std::size_t i) { return static_cast<std::uint8_t>(input[i]); };
    const std::size_t length = at(1) | (std::size_t{at(2)} << 8);
    const auto kind = static_cast<PartKind>(at(0) % 19);
    writer.Write(kind, input.substr(3, length));
    input.remove_prefix(std::min(3 + length, input.size()));
  }
  return out.str();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(bytes), size);
  Read(input);
  const std::string made = MadeOf(input);
  Read(made);
  View(made);
  return 0;
}
