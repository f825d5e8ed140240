#include "runner/snapshot/file/block_batch.h"

#include "common/region_layout.h"
#include "runner/snapshot/file/parts.h"

namespace leakgate::snapshot_format {
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

// Neighbours in memory were mostly allocated in one window by one thread.
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
