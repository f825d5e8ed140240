#include "runner/snapshot/view/snapshot_view.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "runner/attribution/code_owner.h"
#include "runner/attribution/wrappers.h"

namespace leakgate {
namespace {

template <typename Entry>
Entry& At(std::vector<Entry>& entries, std::uint32_t index) {
  if (index >= entries.size()) {
    entries.resize(std::max<std::size_t>(std::size_t{index} + 1, entries.size() * 2));
  }
  return entries[index];
}

std::size_t SizeClassOf(std::uint64_t bytes) {
  return bytes <= 1 ? 0 : static_cast<std::size_t>(std::bit_width(bytes - 1));
}

}  // namespace

void SnapshotTally::Add(const LiveBlock& block) {
  const Amount amount{static_cast<std::int64_t>(block.size_bytes), 1};
  total_ += amount;
  StackTally& stack = At(by_stack_, block.stack);
  stack.bytes += amount.bytes;
  ++stack.blocks;
  stack.first_window = std::min(stack.first_window, block.window);
  stack.last_window = std::max(stack.last_window, block.window);
  At(by_window_, block.window) += amount;
  At(by_thread_, block.thread) += amount;
  by_kind_[static_cast<std::size_t>(block.kind)] += amount;
  by_size_[SizeClassOf(block.size_bytes)] += amount;
}

SnapshotView::SnapshotView(SnapshotQuery query, Symbolizer symbolizer)
    : query_(std::move(query)),
      symbolizer_(std::move(symbolizer)),
      frames_(contents_, symbolizer_),
      filters_(query_.filters, frames_),
      owner_of_(frames_, [this](FrameId frame) { return OwnerOfFrame(frames_.Get(frame)); }) {
  std::vector<const BudgetFile*> files;
  for (const BudgetFile& file : query_.budgets) files.push_back(&file);
  symbolizer_.MarkWrappers(FindWrappersBy(DeclaredWrappers(files)));
}

Expected<void> SnapshotView::Read(const std::filesystem::path& file) {
  if (!query_.since.empty()) {
    const Expected<OpenedSnapshot> shown = OpenSnapshot(file);
    if (!shown) return Unexpected(shown.error());
    Expected<std::unique_ptr<SnapshotAges>> ages = SnapshotAges::Open(query_.since, shown->facts);
    if (!ages) return Unexpected(ages.error());
    ages_ = *std::move(ages);
  }
  const Expected<void> read = ReadContents(
      file, contents_, [this](std::span<const LiveBlock> blocks) { return Use(blocks); });
  if (!read) return read;
  if (ages_) {
    const Expected<void> finished = ages_->Finish();
    if (!finished) return finished;
  }
  budgets_.emplace(query_.budgets, contents_.facts.name);
  owners_ = budgets_->CodeOwners();
  return {};
}

Expected<void> SnapshotView::Use(std::span<const LiveBlock> blocks) {
  if (ages_) ages_->AddUpTo(contents_.nodes);
  for (const LiveBlock& block : blocks) {
    const bool is_shown = filters_.Match(block.stack);
    if (is_shown) tally_.Add(block);
    if (!ages_) continue;
    using Counting = SnapshotAges::Counting;
    const Expected<void> added = ages_->Add(block, is_shown ? Counting::kYes : Counting::kNo);
    if (!added) return added;
  }
  return {};
}

// The file for code that nobody owns is asked last, below.
InnermostAnswer::Answer SnapshotView::OwnerOfFrame(const Frame& frame) const {
  const BudgetFile* const owner = OwnerOf(owners_, {frame});
  if (owner == nullptr || owner->component == kUnowned) return InnermostAnswer::kNone;
  const auto found = std::find(owners_.begin(), owners_.end(), owner);
  return static_cast<InnermostAnswer::Answer>(found - owners_.begin()) + 1;
}

std::string SnapshotView::ComponentOf(std::uint32_t stack) {
  const InnermostAnswer::Answer owner = owner_of_.Of(stack);
  if (owner != InnermostAnswer::kNone) return owners_[owner - 1]->component;
  const bool has_unowned = std::any_of(owners_.begin(), owners_.end(), [](const BudgetFile* file) {
    return file->component == kUnowned;
  });
  return has_unowned ? kUnowned : "";
}

}  // namespace leakgate
