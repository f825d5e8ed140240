#include "runner/snapshot/file/records.h"

#include <concepts>
#include <span>
#include <type_traits>

#include "runner/snapshot/file/parts.h"

namespace leakgate::snapshot_format {
namespace {

// Writes each field of a record, in the order in which VisitFields names them.
class FieldWriter {
 public:
  explicit FieldWriter(ByteWriter& out) : out_(out) {}

  void Number(std::uint64_t number) { out_.Number(number); }
  void Signed(int number) { out_.Signed(number); }
  template <typename Enum>
  void Choice(Enum value, Enum, Enum) {
    out_.Number(static_cast<std::uint64_t>(value));
  }
  void Text(const std::string& text) { out_.Text(text); }
  void Texts(const std::vector<std::string>& texts) {
    out_.Number(texts.size());
    for (const std::string& text : texts) out_.Text(text);
  }
  void Numbers(std::span<const std::uint64_t> numbers) {
    out_.Number(numbers.size());
    for (const std::uint64_t number : numbers) out_.Number(number);
  }
  void AddedNumber(std::uint32_t number) { out_.Number(number); }

 private:
  ByteWriter& out_;
};

// Reads each field of a record, likewise. A damaged field makes `in` fail.
class FieldReader {
 public:
  explicit FieldReader(ByteReader& in) : in_(in) {}

  void Number(std::uint64_t& number) { number = in_.Number(); }
  void Number(std::uint32_t& number) { number = in_.Number32(); }
  void Number(bool& is_true) { is_true = in_.Number() != 0; }
  void Signed(int& number) { number = static_cast<int>(in_.Signed()); }

  // Reads a value from `first` to `last`.
  template <typename Enum>
  void Choice(Enum& value, Enum first, Enum last) {
    const std::uint64_t number = in_.Number();
    const bool is_known =
        number >= static_cast<std::uint64_t>(first) && number <= static_cast<std::uint64_t>(last);
    if (!is_known) in_.Fail();
    value = is_known ? static_cast<Enum>(number) : first;
  }

  void Text(std::string& text) {
    const std::string_view read = in_.Text();
    if (read.size() > kMostTextBytes) in_.Fail();
    text = read.substr(0, kMostTextBytes);
  }

  void Texts(std::vector<std::string>& texts) {
    const std::uint64_t count = in_.Number();
    if (count > kMostWords) in_.Fail();
    for (std::uint64_t i = 0; i < count && in_.is_good(); ++i) Text(texts.emplace_back());
  }

  // A later leakgate may count more than this one knows: the rest is skipped.
  void Numbers(std::span<std::uint64_t> numbers) {
    const std::uint64_t count = in_.Number();
    for (std::uint64_t i = 0; i < count && in_.is_good(); ++i) {
      const std::uint64_t number = in_.Number();
      if (i < numbers.size()) numbers[i] = number;
    }
  }

  // An earlier leakgate's file ends before this field, which then keeps its default.
  void AddedNumber(std::uint32_t& number) {
    if (in_.is_good() && !in_.is_at_end()) number = in_.Number32();
  }

 private:
  ByteReader& in_;
};

// `Record`, const where its fields are written.
template <typename Given, typename Record>
concept Is = std::same_as<std::remove_const_t<Given>, Record>;

void VisitFields(auto& fields, Is<SnapshotFacts> auto& facts) {
  fields.Signed(facts.pid);
  fields.Number(facts.generation);
  fields.Choice(facts.moment, SnapshotMoment::kRunning, SnapshotMoment::kEnded);
  fields.Number(facts.stack_depth);
  fields.Text(facts.image);
  fields.Texts(facts.command_line);
  fields.Text(facts.occasion);
  fields.Number(facts.taken_unix_ns);
  fields.Number(facts.taken_ns);
  fields.Number(facts.tracing_begin_ns);
  fields.Texts(facts.not_recorded);
  fields.Text(facts.host);
  fields.Text(facts.boot_id);
  fields.Text(facts.kernel);
  fields.Text(facts.leakgate_version);
  fields.AddedNumber(facts.stack_events);
}

void VisitFields(auto& fields, Is<SnapshotClosing> auto& closing) {
  fields.Number(closing.blocks);
  fields.Number(closing.bytes);
  fields.Number(closing.mappings);
  fields.Number(closing.finished_ns);
  fields.Number(closing.since_begin.allocated_bytes);
  fields.Number(closing.since_begin.allocated_blocks);
  fields.Number(closing.since_begin.freed_bytes);
  fields.Number(closing.since_begin.freed_blocks);
  fields.Number(closing.current_window);
  fields.Number(closing.window_count);
  fields.Number(closing.thread_count);
  fields.Choice(closing.agent_state, AgentState::kAbsent, AgentState::kFailed);
  fields.Choice(closing.agent_failure, AgentFailure::kNone, AgentFailure::kCanaryUnseen);
  fields.Choice(closing.program_end, ProgramEnd::kUnseen, ProgramEnd::kImmediate);
  fields.Choice(closing.boundaries, BoundarySource::kNone, BoundarySource::kListener);
  fields.Numbers(closing.drops);
  fields.Numbers(closing.stack_ends);
}

void VisitFields(auto& fields, Is<SnapshotModule> auto& module) {
  fields.Number(module.id);
  fields.Number(module.module.begin);
  fields.Number(module.module.end);
  fields.Number(module.module.bias);
  fields.Text(module.module.path);
  fields.Text(module.module.build_id);
  fields.Number(module.file_bytes);
  fields.Number(module.file_modified_ns);
}

void VisitFields(auto& fields, Is<SnapshotWindow> auto& window) {
  fields.Number(window.id);
  fields.Choice(window.kind, WindowKind::kProgram, WindowKind::kProcess);
  fields.Choice(window.state, WindowState::kUnused, WindowState::kClosed);
  fields.Number(window.parent);
  fields.Number(window.iteration);
  fields.Choice(window.test_result, TestResult::kUnknown, TestResult::kNotPassed);
  fields.Number(window.begin_ns);
  fields.Number(window.end_ns);
  fields.Number(window.line);
  fields.Text(window.name);
  fields.Text(window.file);
}

void VisitFields(auto& fields, Is<SnapshotThread> auto& thread) {
  fields.Number(thread.id);
  fields.Signed(thread.tid);
  fields.Number(thread.parent);
  fields.Number(thread.origin_stack);
  fields.Number(thread.birth_window);
  fields.Number(thread.has_ended);
  fields.Text(thread.name);
}

void VisitFields(auto& fields, Is<SnapshotMapping> auto& mapping) {
  fields.Number(mapping.address);
  fields.Number(mapping.bytes);
  fields.Choice(mapping.kind, AllocationKind::kMapped, AllocationKind::kThreadStack);
  fields.Number(mapping.protection);
  fields.Number(mapping.stack);
  fields.Number(mapping.window);
  fields.Number(mapping.thread);
  fields.Number(mapping.mapped_ns);
}

void VisitFields(auto& fields, Is<SnapshotFrees> auto& frees) {
  fields.Number(frees.stack);
  fields.Number(frees.bytes);
  fields.Number(frees.blocks);
}

}  // namespace

template <typename Record>
void Encode(const Record& record, ByteWriter& out) {
  FieldWriter fields(out);
  VisitFields(fields, record);
}

template <typename Record>
bool Decode(ByteReader in, Record& record) {
  FieldReader fields(in);
  VisitFields(fields, record);
  return in.is_good();
}

template void Encode(const SnapshotFacts&, ByteWriter&);
template void Encode(const SnapshotClosing&, ByteWriter&);
template void Encode(const SnapshotModule&, ByteWriter&);
template void Encode(const SnapshotWindow&, ByteWriter&);
template void Encode(const SnapshotThread&, ByteWriter&);
template void Encode(const SnapshotMapping&, ByteWriter&);
template void Encode(const SnapshotFrees&, ByteWriter&);
template bool Decode(ByteReader, SnapshotFacts&);
template bool Decode(ByteReader, SnapshotClosing&);
template bool Decode(ByteReader, SnapshotModule&);
template bool Decode(ByteReader, SnapshotWindow&);
template bool Decode(ByteReader, SnapshotThread&);
template bool Decode(ByteReader, SnapshotMapping&);
template bool Decode(ByteReader, SnapshotFrees&);

}  // namespace leakgate::snapshot_format
