#include "runner/snapshot/file/records.h"

#include <span>

#include "runner/snapshot/file/parts.h"

namespace leakgate::snapshot_format {
namespace {

template <typename Enum>
std::uint64_t NumberOf(Enum value) {
  return static_cast<std::uint64_t>(value);
}

// A value from `first` to `last`.
template <typename Enum>
Enum ReadEnum(ByteReader& in, Enum first, Enum last) {
  const std::uint64_t value = in.Number();
  if (value >= NumberOf(first) && value <= NumberOf(last)) return static_cast<Enum>(value);
  in.Fail();
  return first;
}

std::string ReadText(ByteReader& in) {
  const std::string_view text = in.Text();
  if (text.size() > kMostTextBytes) in.Fail();
  return std::string(text.substr(0, kMostTextBytes));
}

void PutTexts(const std::vector<std::string>& texts, ByteWriter& out) {
  out.Number(texts.size());
  for (const std::string& text : texts) out.Text(text);
}

std::vector<std::string> ReadTexts(ByteReader& in) {
  std::vector<std::string> texts;
  const std::uint64_t count = in.Number();
  if (count > kMostWords) in.Fail();
  for (std::uint64_t i = 0; i < count && in.is_good(); ++i) texts.push_back(ReadText(in));
  return texts;
}

void PutNumbers(std::span<const std::uint64_t> numbers, ByteWriter& out) {
  out.Number(numbers.size());
  for (const std::uint64_t number : numbers) out.Number(number);
}

// What a later leakgate counts besides is read over.
void ReadNumbers(ByteReader& in, std::span<std::uint64_t> numbers) {
  const std::uint64_t count = in.Number();
  for (std::uint64_t i = 0; i < count && in.is_good(); ++i) {
    const std::uint64_t number = in.Number();
    if (i < numbers.size()) numbers[i] = number;
  }
}

}  // namespace

void Encode(const SnapshotFacts& facts, ByteWriter& out) {
  out.Signed(facts.pid);
  out.Number(facts.generation);
  out.Number(NumberOf(facts.moment));
  out.Number(facts.stack_depth);
  out.Text(facts.image);
  PutTexts(facts.command_line, out);
  out.Text(facts.occasion);
  out.Number(facts.taken_unix_ns);
  out.Number(facts.taken_ns);
  out.Number(facts.tracing_begin_ns);
  PutTexts(facts.not_recorded, out);
  out.Text(facts.host);
  out.Text(facts.boot_id);
  out.Text(facts.kernel);
  out.Text(facts.leakgate_version);
  out.Number(facts.stack_events);
}

bool Decode(ByteReader in, SnapshotFacts& facts) {
  facts.pid = static_cast<int>(in.Signed());
  facts.generation = in.Number32();
  facts.moment = ReadEnum(in, SnapshotMoment::kRunning, SnapshotMoment::kEnded);
  facts.stack_depth = in.Number32();
  facts.image = ReadText(in);
  facts.command_line = ReadTexts(in);
  facts.occasion = ReadText(in);
  facts.taken_unix_ns = in.Number();
  facts.taken_ns = in.Number();
  facts.tracing_begin_ns = in.Number();
  facts.not_recorded = ReadTexts(in);
  facts.host = ReadText(in);
  facts.boot_id = ReadText(in);
  facts.kernel = ReadText(in);
  facts.leakgate_version = ReadText(in);
  // An earlier leakgate's file does not tell: then it is what that recorded.
  if (in.is_good() && !in.is_at_end()) facts.stack_events = in.Number32();
  return in.is_good();
}

void Encode(const SnapshotClosing& closing, ByteWriter& out) {
  out.Number(closing.blocks);
  out.Number(closing.bytes);
  out.Number(closing.mappings);
  out.Number(closing.finished_ns);
  out.Number(closing.since_begin.allocated_bytes);
  out.Number(closing.since_begin.allocated_blocks);
  out.Number(closing.since_begin.freed_bytes);
  out.Number(closing.since_begin.freed_blocks);
  out.Number(closing.current_window);
  out.Number(closing.window_count);
  out.Number(closing.thread_count);
  out.Number(NumberOf(closing.agent_state));
  out.Number(NumberOf(closing.agent_failure));
  out.Number(NumberOf(closing.program_end));
  out.Number(NumberOf(closing.boundaries));
  PutNumbers(closing.drops, out);
  PutNumbers(closing.stack_ends, out);
}

bool Decode(ByteReader in, SnapshotClosing& closing) {
  closing.blocks = in.Number();
  closing.bytes = in.Number();
  closing.mappings = in.Number();
  closing.finished_ns = in.Number();
  closing.since_begin.allocated_bytes = in.Number();
  closing.since_begin.allocated_blocks = in.Number();
  closing.since_begin.freed_bytes = in.Number();
  closing.since_begin.freed_blocks = in.Number();
  closing.current_window = in.Number32();
  closing.window_count = in.Number32();
  closing.thread_count = in.Number32();
  closing.agent_state = ReadEnum(in, AgentState::kAbsent, AgentState::kFailed);
  closing.agent_failure = ReadEnum(in, AgentFailure::kNone, AgentFailure::kCanaryUnseen);
  closing.program_end = ReadEnum(in, ProgramEnd::kUnseen, ProgramEnd::kImmediate);
  closing.boundaries = ReadEnum(in, BoundarySource::kNone, BoundarySource::kListener);
  ReadNumbers(in, closing.drops);
  ReadNumbers(in, closing.stack_ends);
  return in.is_good();
}

void Encode(const SnapshotModule& module, ByteWriter& out) {
  out.Number(module.id);
  out.Number(module.module.begin);
  out.Number(module.module.end);
  out.Number(module.module.bias);
  out.Text(module.module.path);
  out.Text(module.module.build_id);
  out.Number(module.file_bytes);
  out.Number(module.file_modified_ns);
}

bool Decode(ByteReader in, SnapshotModule& module) {
  module.id = in.Number32();
  module.module.begin = in.Number();
  module.module.end = in.Number();
  module.module.bias = in.Number();
  module.module.path = ReadText(in);
  module.module.build_id = ReadText(in);
  module.file_bytes = in.Number();
  module.file_modified_ns = in.Number();
  return in.is_good();
}

void Encode(const SnapshotWindow& window, ByteWriter& out) {
  out.Number(window.id);
  out.Number(NumberOf(window.kind));
  out.Number(NumberOf(window.state));
  out.Number(window.parent);
  out.Number(window.iteration);
  out.Number(NumberOf(window.test_result));
  out.Number(window.begin_ns);
  out.Number(window.end_ns);
  out.Number(window.line);
  out.Text(window.name);
  out.Text(window.file);
}

bool Decode(ByteReader in, SnapshotWindow& window) {
  window.id = in.Number32();
  window.kind = ReadEnum(in, WindowKind::kProgram, WindowKind::kProcess);
  window.state = ReadEnum(in, WindowState::kUnused, WindowState::kClosed);
  window.parent = in.Number32();
  window.iteration = in.Number32();
  window.test_result = ReadEnum(in, TestResult::kUnknown, TestResult::kNotPassed);
  window.begin_ns = in.Number();
  window.end_ns = in.Number();
  window.line = in.Number32();
  window.name = ReadText(in);
  window.file = ReadText(in);
  return in.is_good();
}

void Encode(const SnapshotThread& thread, ByteWriter& out) {
  out.Number(thread.id);
  out.Signed(thread.tid);
  out.Number(thread.parent);
  out.Number(thread.origin_stack);
  out.Number(thread.birth_window);
  out.Number(thread.has_ended ? 1 : 0);
  out.Text(thread.name);
}

bool Decode(ByteReader in, SnapshotThread& thread) {
  thread.id = in.Number32();
  thread.tid = static_cast<int>(in.Signed());
  thread.parent = in.Number32();
  thread.origin_stack = in.Number32();
  thread.birth_window = in.Number32();
  thread.has_ended = in.Number() != 0;
  thread.name = ReadText(in);
  return in.is_good();
}

void Encode(const SnapshotMapping& mapping, ByteWriter& out) {
  out.Number(mapping.address);
  out.Number(mapping.bytes);
  out.Number(NumberOf(mapping.kind));
  out.Number(mapping.protection);
  out.Number(mapping.stack);
  out.Number(mapping.window);
  out.Number(mapping.thread);
  out.Number(mapping.mapped_ns);
}

bool Decode(ByteReader in, SnapshotMapping& mapping) {
  mapping.address = in.Number();
  mapping.bytes = in.Number();
  mapping.kind = ReadEnum(in, AllocationKind::kMapped, AllocationKind::kThreadStack);
  mapping.protection = in.Number32();
  mapping.stack = in.Number32();
  mapping.window = in.Number32();
  mapping.thread = in.Number32();
  mapping.mapped_ns = in.Number();
  return in.is_good();
}

void Encode(const SnapshotFrees& frees, ByteWriter& out) {
  out.Number(frees.stack);
  out.Number(frees.bytes);
  out.Number(frees.blocks);
}

bool Decode(ByteReader in, SnapshotFrees& frees) {
  frees.stack = in.Number32();
  frees.bytes = in.Number();
  frees.blocks = in.Number();
  return in.is_good();
}

}  // namespace leakgate::snapshot_format
