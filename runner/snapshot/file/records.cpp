#include "runner/snapshot/file/records.h"

#include <concepts>
#include <span>
#include <type_traits>

#include "common/region_layout.h"
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
  void Frames(const std::vector<KnownFrame>& frames);
  void AddedNumber(std::uint64_t number) { out_.Number(number); }
  void AddedText(const std::string& text) { out_.Text(text); }

 private:
  ByteWriter& out_;
};

// Reads each field of a record in the same order. A damaged field makes `in` fail.
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

  // A later leakgate may count more reasons than this one knows. The rest is skipped.
  void Numbers(std::span<std::uint64_t> numbers) {
    const std::uint64_t count = in_.Number();
    for (std::uint64_t i = 0; i < count && in_.is_good(); ++i) {
      const std::uint64_t number = in_.Number();
      if (i < numbers.size()) numbers[i] = number;
    }
  }

  void Frames(std::vector<KnownFrame>& frames);

  // The record of an earlier leakgate ends before these fields, which then keep their defaults.
  template <typename Value>
  void AddedNumber(Value& number) {
    if (in_.is_good() && !in_.is_at_end()) Number(number);
  }
  void AddedText(std::string& text) {
    if (in_.is_good() && !in_.is_at_end()) Text(text);
  }

 private:
  ByteReader& in_;
};

template <typename Fields, typename Frame>
void VisitFrame(Fields& fields, Frame& frame) {
  fields.Text(frame.function);
  fields.Text(frame.file);
  fields.Number(frame.line);
  fields.Number(frame.is_inlined);
  fields.Text(frame.called_function);
  fields.Number(frame.calls_through_pointer);
  fields.Number(frame.wrapper);
}

void FieldWriter::Frames(const std::vector<KnownFrame>& frames) {
  out_.Number(frames.size());
  for (const KnownFrame& frame : frames) VisitFrame(*this, frame);
}

void FieldReader::Frames(std::vector<KnownFrame>& frames) {
  const std::uint64_t count = in_.Number();
  if (count > kMostFramesAtOneAddress) in_.Fail();
  for (std::uint64_t i = 0; i < count && in_.is_good(); ++i)
    VisitFrame(*this, frames.emplace_back());
}

// It is `Record` when it is read, and `const Record` when it is written.
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
  fields.AddedText(facts.name);
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
  fields.Choice(closing.agent_failure, AgentFailure::kNone, AgentFailure::kEntriesNotHooked);
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
  fields.AddedNumber(mapping.pages.are_known);
  fields.AddedNumber(mapping.pages.resident_bytes);
  fields.AddedNumber(mapping.pages.swapped_bytes);
  fields.AddedNumber(mapping.pages.lazily_freed_bytes);
}

void VisitFields(auto& fields, Is<SnapshotSymbols> auto& symbols) {
  fields.Number(symbols.module);
  fields.Number(symbols.pc);
  fields.Frames(symbols.frames);
}

void VisitFields(auto& fields, Is<SnapshotSymbolProblem> auto& problem) {
  fields.Number(problem.module);
  fields.Text(problem.problem);
}

void VisitFields(auto& fields, Is<SnapshotPages> auto& pages) {
  fields.Choice(pages.source, PageSource::kNone, PageSource::kPageMap);
  fields.Text(pages.problem);
  fields.Number(pages.unassigned_lazily_freed_bytes);
}

void VisitFields(auto& fields, Is<SnapshotFrees> auto& frees) {
  fields.Number(frees.stack);
  fields.Number(frees.bytes);
  fields.Number(frees.blocks);
}

void VisitFields(auto& fields, Is<SnapshotAllocations> auto& allocations) {
  fields.Number(allocations.stack);
  fields.Number(allocations.bytes);
  fields.Number(allocations.blocks);
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
template void Encode(const SnapshotAllocations&, ByteWriter&);
template void Encode(const SnapshotPages&, ByteWriter&);
template void Encode(const SnapshotSymbols&, ByteWriter&);
template void Encode(const SnapshotSymbolProblem&, ByteWriter&);
template bool Decode(ByteReader, SnapshotFacts&);
template bool Decode(ByteReader, SnapshotClosing&);
template bool Decode(ByteReader, SnapshotModule&);
template bool Decode(ByteReader, SnapshotWindow&);
template bool Decode(ByteReader, SnapshotThread&);
template bool Decode(ByteReader, SnapshotMapping&);
template bool Decode(ByteReader, SnapshotFrees&);
template bool Decode(ByteReader, SnapshotAllocations&);
template bool Decode(ByteReader, SnapshotPages&);
template bool Decode(ByteReader, SnapshotSymbols&);
template bool Decode(ByteReader, SnapshotSymbolProblem&);

namespace {

constexpr unsigned kKindBits = 3;
constexpr std::uint64_t kKindMask = (1U << kKindBits) - 1;
constexpr std::uint64_t kMostGranule = 1ULL << (64 - kGranuleShift);

bool IsKind(std::uint64_t kind) {
  return kind >= static_cast<std::uint64_t>(AllocationKind::kMalloc) &&
         kind <= static_cast<std::uint64_t>(AllocationKind::kNewArray);
}

struct Context {
  std::uint32_t window;
  std::uint32_t thread;
};

bool ReadContexts(ByteReader& in, std::uint64_t count, std::vector<Context>& contexts) {
  if (count > kMostBlocksPerPart) return false;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint32_t window = in.Number32();
    contexts.push_back({window, in.Number32()});
  }
  return in.is_good();
}

}  // namespace

// Neighbours in memory were mostly allocated in the same window, by the same thread.
std::uint64_t BlockBatchWriter::ContextOf(std::uint32_t window, std::uint32_t thread) {
  const std::uint64_t pair = (std::uint64_t{window} << 32) | thread;
  if (pair == last_pair_ && !contexts_.empty()) return last_context_;
  const auto [known, is_new] = contexts_.try_emplace(pair, contexts_.size());
  if (is_new) {
    pairs_.Number(window);
    pairs_.Number(thread);
  }
  last_pair_ = pair;
  last_context_ = known->second;
  return last_context_;
}

void BlockBatchWriter::Add(const LiveBlock& block) {
  const std::uint64_t granule = block.address >> kGranuleShift;
  if (count_ == 0) first_granule_ = last_granule_ = granule;
  addresses_.Number(granule - last_granule_);
  last_granule_ = granule;
  sizes_.Number(block.size_bytes);
  stacks_.Number(block.stack);
  contexts_and_kinds_.Number((ContextOf(block.window, block.thread) << kKindBits) |
                             static_cast<std::uint64_t>(block.kind));
  ++count_;
}

void BlockBatchWriter::Take(ByteWriter& out) {
  out.Number(count_);
  out.Number(first_granule_);
  out.Number(contexts_.size());
  out.Raw(pairs_.bytes());
  for (const ByteWriter* column : {&addresses_, &sizes_, &stacks_, &contexts_and_kinds_}) {
    out.Text(column->bytes());
  }
  count_ = 0;
  contexts_.clear();
  for (ByteWriter* column : {&pairs_, &addresses_, &sizes_, &stacks_, &contexts_and_kinds_}) {
    column->Clear();
  }
}

bool ReadBlockBatch(ByteReader in, std::vector<LiveBlock>& blocks) {
  blocks.clear();
  const std::uint64_t count = in.Number();
  std::uint64_t granule = in.Number();
  std::vector<Context> contexts;
  if (count > kMostBlocksPerPart || granule >= kMostGranule) return false;
  if (!ReadContexts(in, in.Number(), contexts)) return false;
  ByteReader addresses(in.Text());
  ByteReader sizes(in.Text());
  ByteReader stacks(in.Text());
  ByteReader contexts_and_kinds(in.Text());
  if (!in.is_good()) return false;

  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t step = addresses.Number();
    const bool is_in_order = (step == 0) == (i == 0) && step < kMostGranule - granule;
    const std::uint64_t context = contexts_and_kinds.Number();
    const std::uint64_t kind = context & kKindMask;
    if (!is_in_order || !IsKind(kind) || (context >> kKindBits) >= contexts.size()) return false;
    granule += step;
    const Context& made_in = contexts[context >> kKindBits];
    blocks.push_back({.address = granule << kGranuleShift,
                      .size_bytes = sizes.Number(),
                      .kind = static_cast<AllocationKind>(kind),
                      .stack = stacks.Number32(),
                      .window = made_in.window,
                      .thread = made_in.thread});
  }
  return addresses.is_good() && sizes.is_good() && stacks.is_good() && contexts_and_kinds.is_good();
}

}  // namespace leakgate::snapshot_format
