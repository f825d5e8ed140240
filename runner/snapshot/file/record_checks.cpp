#include "runner/snapshot/file/record_checks.h"

#include <type_traits>

#include "runner/snapshot/file/records.h"

namespace leakgate::snapshot_format {
namespace {

// No address space has more, and all sums fit into a number.
constexpr std::uint64_t kMostRecordedBytes = 1ULL << 62;

template <typename Record>
constexpr bool HasNames(const Record&) {
  return !std::is_same_v<Record, SnapshotMapping> && !std::is_same_v<Record, SnapshotFrees> &&
         !std::is_same_v<Record, SnapshotAllocations>;
}

}  // namespace

Expected<void> RecordChecks::Use(const Part& part, const SnapshotVisitor& visit) {
  switch (static_cast<PartKind>(part.kind)) {
    case PartKind::kFacts:
      return UseFacts(part.plain, visit);
    case PartKind::kModules:
      return UseRecords<SnapshotModule>(part.plain, visit.module, Meaning::kBegin);
    case PartKind::kStacks:
      return UseNodes(part.plain, visit);
    case PartKind::kWindows:
      return UseRecords<SnapshotWindow>(part.plain, visit.window, Meaning::kBegin);
    case PartKind::kEndedWindows:
      return UseRecords<SnapshotWindow>(part.plain, visit.window, Meaning::kEnd);
    case PartKind::kThreads:
      return UseRecords<SnapshotThread>(part.plain, visit.thread, Meaning::kBegin);
    case PartKind::kEndedThreads:
      return UseRecords<SnapshotThread>(part.plain, visit.thread, Meaning::kEnd);
    case PartKind::kBlocks:
      return UseBlocks(part.plain, visit);
    case PartKind::kMappings:
      return UseRecords<SnapshotMapping>(part.plain, visit.mapping, Meaning::kBegin);
    case PartKind::kFrees:
      return UseRecords<SnapshotFrees>(part.plain, visit.frees, Meaning::kBegin);
    case PartKind::kAllocations:
      return UseRecords<SnapshotAllocations>(part.plain, visit.allocations, Meaning::kBegin);
    case PartKind::kSymbols:
      return UseRecords<SnapshotSymbols>(part.plain, visit.symbols, Meaning::kBegin);
    case PartKind::kSymbolProblems:
      return UseRecords<SnapshotSymbolProblem>(part.plain, visit.symbol_problem, Meaning::kBegin);
    case PartKind::kPages:
      return UsePages(part.plain, visit);
    default:
      return {};
  }
}

Expected<void> RecordChecks::UseFacts(std::string_view plain, const SnapshotVisitor& visit) {
  SnapshotFacts facts;
  if (!Decode(ByteReader(plain), facts)) return parts_.Broken(kDamagedRecord);
  if (facts.name.empty()) facts.name = facts.image;  // an earlier leakgate wrote no name
  has_facts_ = true;
  if (visit.facts) visit.facts(std::move(facts));
  return {};
}

template <typename Record, typename Visit>
Expected<void> RecordChecks::UseRecords(std::string_view plain, const Visit& visit,
                                        Meaning meaning) {
  for (ByteReader in(plain); !in.is_at_end();) {
    Record record;
    const std::string_view bytes = in.Text();
    if (!in.is_good() || !Decode(ByteReader(bytes), record)) {
      return parts_.Broken(kDamagedRecord);
    }
    if (!Accept(record, meaning)) return parts_.Broken("a record does not fit the others");
    // An end replaces what was known before. All other records are limited in number.
    const bool takes_room = HasNames(record) && meaning == Meaning::kBegin;
    if (takes_room && !text_.Take(bytes.size())) return parts_.Broken("it names too much");
    if (visit) visit(std::move(record));
  }
  return {};
}

namespace {

bool FitInto(const MappingPages& pages, std::uint64_t bytes) {
  return pages.resident_bytes <= bytes && pages.swapped_bytes <= bytes - pages.resident_bytes &&
         pages.lazily_freed_bytes <= pages.resident_bytes;
}

}  // namespace

Expected<void> RecordChecks::UsePages(std::string_view plain, const SnapshotVisitor& visit) {
  SnapshotPages pages;
  const bool fits =
      Decode(ByteReader(plain), pages) && pages.unassigned_lazily_freed_bytes <= kMostRecordedBytes;
  if (!fits) return parts_.Broken(kDamagedRecord);
  if (visit.pages) visit.pages(std::move(pages));
  return {};
}

bool RecordChecks::Accept(const SnapshotModule& module, Meaning) { return modules_.Add(module.id); }
bool RecordChecks::Accept(const SnapshotWindow& window, Meaning meaning) {
  const bool fits = meaning == Meaning::kEnd ? windows_.Has(window.id) : windows_.Add(window.id);
  return fits && windows_.HasOrNone(window.parent);
}
bool RecordChecks::Accept(const SnapshotThread& thread, Meaning meaning) {
  return threads_.HasOrNone(thread.parent) && windows_.HasOrNone(thread.birth_window) &&
         IsStack(thread.origin_stack) &&
         (meaning == Meaning::kEnd ? threads_.Has(thread.id) : threads_.Add(thread.id));
}
bool RecordChecks::Accept(const SnapshotMapping& mapping, Meaning) {
  mapping_bytes_ += mapping.bytes;
  // A mapping that moves to another owner while it is copied may be there twice.
  return ++mappings_ <= 2 * kMaxMappings && mapping.bytes <= kMostRecordedBytes &&
         mapping_bytes_ <= kMostRecordedBytes && FitInto(mapping.pages, mapping.bytes) &&
         IsStack(mapping.stack) && windows_.HasOrNone(mapping.window) &&
         threads_.HasOrNone(mapping.thread);
}

template <typename Record>
bool RecordChecks::Fits(const Record& tally, Tallies& all) {
  const bool fits = tally.bytes <= kMostRecordedBytes && tally.blocks <= kMostRecordedBytes;
  all.bytes += tally.bytes;
  all.blocks += tally.blocks;
  return fits && ++all.count <= kMaxStackNodes && all.bytes <= kMostRecordedBytes &&
         all.blocks <= kMostRecordedBytes && IsStack(tally.stack);
}

bool RecordChecks::Accept(const SnapshotFrees& frees, Meaning) { return Fits(frees, frees_); }

bool RecordChecks::Accept(const SnapshotSymbols& symbols, Meaning) {
  return ++symbols_ <= kMaxStackNodes && modules_.Has(symbols.module);
}

bool RecordChecks::Accept(const SnapshotSymbolProblem& problem, Meaning) {
  return modules_.Has(problem.module);
}

bool RecordChecks::Accept(const SnapshotAllocations& allocations, Meaning) {
  return Fits(allocations, allocations_);
}

Expected<void> RecordChecks::UseNodes(std::string_view plain, const SnapshotVisitor& visit) {
  std::vector<SnapshotNode> nodes;
  std::uint64_t pc = 0;
  for (ByteReader in(plain); !in.is_at_end(); ++next_node_) {
    const std::uint64_t step = in.Number();
    const std::uint32_t module = in.Number32();
    pc += static_cast<std::uint64_t>(in.Signed());
    const bool fits =
        step > 0 && step <= next_node_ && modules_.HasOrNone(module) && next_node_ < kMaxStackNodes;
    if (!in.is_good() || !fits) return parts_.Broken("a stack is damaged");
    nodes.push_back({pc, next_node_ - static_cast<std::uint32_t>(step), module});
  }
  if (visit.nodes) visit.nodes(nodes);
  return {};
}

bool RecordChecks::Fits(const LiveBlock& block) {
  bytes_ += block.size_bytes;
  const bool is_in_order = blocks_read_++ == 0 || block.address > last_address_;
  last_address_ = block.address;
  return is_in_order && block.size_bytes <= kMostRecordedBytes && bytes_ <= kMostRecordedBytes &&
         IsStack(block.stack) && windows_.HasOrNone(block.window) &&
         threads_.HasOrNone(block.thread);
}

Expected<void> RecordChecks::UseBlocks(std::string_view plain, const SnapshotVisitor& visit) {
  bool fits = ReadBlockBatch(ByteReader(plain), blocks_);
  for (const LiveBlock& block : blocks_) fits = fits && Fits(block);
  if (!fits) return parts_.Broken("a block is damaged");
  return visit.blocks ? visit.blocks(blocks_) : Expected<void>();
}

}  // namespace leakgate::snapshot_format
