#include "runner/snapshot/view/snapshot_view.h"

#include <algorithm>
#include <utility>

#include "runner/base/path_text.h"
#include "runner/snapshot/view/counts_by_number.h"

namespace leakgate {
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

std::vector<StackAmount> AmountsByStack(const SnapshotTally& tally) {
  std::vector<StackAmount> amounts;
  for (std::uint32_t stack = 0; stack < tally.by_stack().size(); ++stack) {
    const StackTally& it = tally.by_stack()[stack];
    if (it.blocks != 0) amounts.emplace_back(stack, it.amount());
  }
  return amounts;
}

SnapshotView::SnapshotView(SnapshotQuery query, Symbolizer symbolizer)
    : since_(std::move(query.since)),
      stacks_(contents_, std::move(query.stacks), std::move(symbolizer)) {}

Expected<void> SnapshotView::Read(const std::filesystem::path& file) {
  if (!since_.empty()) {
    LEAKGATE_TRY_ASSIGN(const OpenedSnapshot shown, OpenSnapshot(file));
    LEAKGATE_TRY_ASSIGN(std::unique_ptr<SnapshotAges> ages,
                        SnapshotAges::Open(since_, shown.facts));
    ages_ = std::move(ages);
  }
  const auto read_file = [file](const SnapshotVisitor& visitor) {
    return ReadSnapshot(file, visitor);
  };
  const Expected<void> read = Read(read_file, PathText(file));
  return read && ages_ ? ages_->Finish() : read;
}

Expected<void> SnapshotView::Read(SnapshotSource source, const std::string& name) {
  source_ = std::move(source);
  return ReadContents(source_, name, contents_,
                      [this](std::span<const LiveBlock> blocks) { return Use(blocks); });
}

Expected<void> SnapshotView::ReadBlocks(
    const std::function<Expected<void>(std::span<const LiveBlock> blocks)>& use) const {
  SnapshotVisitor visitor;
  visitor.blocks = use;
  return source_(visitor);
}

Expected<void> SnapshotView::Use(std::span<const LiveBlock> blocks) {
  if (ages_) ages_->AddUpTo(contents_.nodes);
  for (const LiveBlock& block : blocks) {
    const bool is_shown = stacks_.Matches(block.stack);
    if (is_shown) tally_.Add(block);
    if (!ages_) continue;
    using Counting = SnapshotAges::Counting;
    const Expected<void> added = ages_->Add(block, is_shown ? Counting::kYes : Counting::kNo);
    if (!added) return added;
  }
  return {};
}

}  // namespace leakgate
