#include "runner/snapshot/view/snapshot_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "runner/attribution/code_owner.h"
#include "runner/base/path_text.h"
#include "runner/region/amount.h"
#include "runner/snapshot/view/block_stream.h"
#include "runner/snapshot/view/mapped_groups.h"
#include "runner/snapshot/view/show_snapshot.h"
#include "runner/snapshot/view/stack_changes.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

// A program may be a link to a file whose name contains its build.
bool AreOneProgram(const SnapshotFacts& a, const SnapshotFacts& b) {
  return fs::path(a.name).filename() == fs::path(b.name).filename() ||
         fs::path(a.image).filename() == fs::path(b.image).filename();
}

using ChangeByStack = std::vector<SnapshotChange>;

// Walks both files by address.
Expected<void> CompareBlocks(BlockStream& first, BlockStream& second, ChangeByStack& changes) {
  const auto of = [&](const LiveBlock& block) -> SnapshotChange& {
    if (block.stack >= changes.size()) changes.resize(2 * std::size_t{block.stack} + 1);
    return changes[block.stack];
  };
  const auto amount = [](const LiveBlock& block) {
    return Amount{static_cast<std::int64_t>(block.size_bytes), 1};
  };
  while (true) {
    if (Expected<void> filled = first.Fill(); !filled) return filled;
    if (Expected<void> filled = second.Fill(); !filled) return filled;
    const LiveBlock* const before = first.Get();
    const LiveBlock* const after = second.Get();
    if (before == nullptr && after == nullptr) return {};
    const bool is_kept = before != nullptr && after != nullptr && AreOneBlock(*before, *after);
    const bool takes_before =
        before != nullptr && (after == nullptr || before->address <= after->address);
    const bool takes_after =
        after != nullptr && (before == nullptr || after->address <= before->address);
    if (takes_before) {
      of(*before).before += amount(*before);
      if (!is_kept) of(*before).gone += amount(*before);
      first.Skip();
    }
    if (takes_after) {
      of(*after).after += amount(*after);
      if (!is_kept) of(*after).appeared += amount(*after);
      second.Skip();
    }
  }
}

void AddMissing(const std::string& file, const SnapshotContents& contents, SnapshotDiff& diff) {
  for (const std::string& line : MissingFrom(contents)) diff.missing.push_back(file + ": " + line);
}

void AddPagesProblems(const std::string& file, const std::vector<SnapshotMapping>& mappings,
                      const SnapshotPages& pages, SnapshotDiff& diff) {
  if (mappings.empty()) return;
  std::string problem = PagesProblem(pages);
  std::uint64_t unknown = 0;
  for (const SnapshotMapping& mapping : mappings) {
    if (!mapping.pages.are_known) unknown += mapping.bytes;
  }
  if (problem.empty() && unknown != 0) {
    problem = fmt::format("the kernel gave no information about {}",
                          FormatBytes(static_cast<std::int64_t>(unknown)));
  }
  if (!problem.empty()) diff.pages_problems.push_back(fmt::format("{}: {}", file, problem));
}

// Adds up `stacks` by call site. A change of resident memory counts only if both snapshots know it.
void Conclude(ChangedStacks& stacks, const UseStacks& use_stacks, SnapshotDiff& diff) {
  for (ChangedStack& it : stacks.mappings) {
    if (diff.pages_problems.empty()) break;
    it.change.resident_before = it.change.resident_after = 0;
  }
  SiteSums<SnapshotChange> sites(stacks.lines);
  SiteSums<SnapshotChange> mapped(stacks.lines);
  for (const ChangedStack& it : stacks.blocks) sites.Add(*it.frames, it.stack, it.change);
  for (const ChangedStack& it : stacks.mappings) mapped.Add(*it.frames, it.stack, it.change);
  diff.total = sites.total();
  diff.sites = ChangesOf(sites);
  diff.mapped = mapped.total();
  diff.mapped_sites = ChangesOf(mapped);
  if (use_stacks) use_stacks(diff, stacks);
}

// Returns what each stack has allocated between the first and the second.
std::vector<Amount> AllocatedBetween(const BlockStream& first, const BlockStream& second,
                                     std::size_t stacks) {
  std::vector<Amount> allocated(stacks);
  for (const SnapshotAllocations& it : second.allocations()) {
    allocated[it.stack] += AmountOf(it.bytes, it.blocks);
  }
  for (const SnapshotAllocations& it : first.allocations()) {
    allocated[it.stack] = allocated[it.stack] - AmountOf(it.bytes, it.blocks);
  }
  return allocated;
}

// Compares two snapshots of one process, block by block.
Expected<SnapshotDiff> DiffBlocks(SnapshotReader first_file, SnapshotReader second_file,
                                  SnapshotDiff diff, const DiffQuery& query,
                                  const UseStacks& use_stacks) {
  SnapshotContents contents;
  contents.nodes.assign(kStackRootCount, {});
  CommonStacks common(contents.nodes);
  BlockStream first(std::move(first_file), common, &contents);
  BlockStream second(std::move(second_file), common, &contents);
  ChangeByStack changes;
  LEAKGATE_TRY(CompareBlocks(first, second, changes));
  contents.facts = diff.first;
  contents.closing = first.closing();
  AddMissing(diff.files[0], contents, diff);
  contents.facts = diff.second;
  contents.closing = second.closing();
  AddMissing(diff.files[1], contents, diff);

  AddPagesProblems(diff.files[0], first.mappings(), first.pages(), diff);
  AddPagesProblems(diff.files[1], second.mappings(), second.pages(), diff);

  Symbolizer symbolizer(IsRuntimeModule, query.symbols);
  StackFrames frames(contents, symbolizer);
  StackFilters filters(query.filters, query.without, frames);
  ChangedStacks stacks{.lines = Lines::kTellApart};
  for (std::uint32_t stack = 0; stack < changes.size(); ++stack) {
    if (changes[stack] == SnapshotChange{} || !filters.Match(stack)) continue;
    stacks.blocks.push_back({&frames, stack, changes[stack]});
  }
  diff.has_churn = (diff.first.stack_events & diff.second.stack_events & kCountsAllocations) != 0;
  if (diff.has_churn) {
    const std::vector<Amount> allocated = AllocatedBetween(first, second, contents.nodes.size());
    changes.resize(std::max(changes.size(), allocated.size()));
    SiteSums<Churn> churns(Lines::kTellApart);
    for (std::uint32_t stack = 0; stack < allocated.size(); ++stack) {
      const Churn churn = ChurnOf(allocated[stack], changes[stack]);
      if (churn != Churn{} && filters.Match(stack)) churns.Add(frames, stack, churn);
    }
    diff.churn = churns.total();
    diff.churn_sites = ChurnsOf(churns);
  }
  for (const auto& [stack, change] : CompareMappings(first.mappings(), second.mappings())) {
    if (filters.Match(stack)) stacks.mappings.push_back({&frames, stack, change});
  }
  Conclude(stacks, use_stacks, diff);
  AddProblemsOf(contents, frames, diff.module_problems);
  return diff;
}

void AddStacks(SnapshotView& view, Amount SnapshotChange::*which,
               std::int64_t SnapshotChange::*resident, ChangedStacks& to) {
  const auto changed = [&](std::uint32_t stack, Amount amount) {
    ChangedStack it{&view.frames(), stack};
    it.change.*which = amount;
    return it;
  };
  const std::vector<StackTally>& stacks = view.tally().by_stack();
  for (std::uint32_t stack = 0; stack < stacks.size(); ++stack) {
    if (stacks[stack].blocks != 0) to.blocks.push_back(changed(stack, stacks[stack].amount()));
  }
  for (const SnapshotMapping& mapping : view.contents().mappings) {
    const Amount amount = CommittedIn(mapping);
    const std::int64_t in_memory = ResidentIn(mapping);
    const bool is_any = amount != Amount{} || in_memory != 0;
    if (!is_any || !view.Matches(mapping.stack)) continue;
    to.mappings.push_back(changed(mapping.stack, amount));
    to.mappings.back().change.*resident = in_memory;
  }
}

// Compares snapshots of two processes, by call site.
Expected<SnapshotDiff> DiffSites(SnapshotDiff diff, const DiffQuery& query,
                                 const UseStacks& use_stacks) {
  SnapshotView first({.stacks = {.filters = query.filters, .without = query.without}},
                     Symbolizer(IsRuntimeModule, query.symbols));
  SnapshotView second({.stacks = {.filters = query.filters, .without = query.without}},
                      Symbolizer(IsRuntimeModule, query.symbols));
  LEAKGATE_TRY(first.Read(diff.files[0]));
  LEAKGATE_TRY(second.Read(diff.files[1]));
  const std::string build_id = BuildIdOfImage(first.contents());
  diff.has_lines = !build_id.empty() && build_id == BuildIdOfImage(second.contents());
  ChangedStacks stacks{.lines = diff.has_lines ? Lines::kTellApart : Lines::kMayHaveMoved};
  AddStacks(first, &SnapshotChange::before, &SnapshotChange::resident_before, stacks);
  AddStacks(second, &SnapshotChange::after, &SnapshotChange::resident_after, stacks);
  for (const SnapshotView* const view : {&first, &second}) {
    const SnapshotContents& contents = view->contents();
    AddPagesProblems(contents.file, contents.mappings, contents.pages, diff);
  }
  AddMissing(first.contents().file, first.contents(), diff);
  AddMissing(second.contents().file, second.contents(), diff);
  Conclude(stacks, use_stacks, diff);
  AddProblemsOf(first.contents(), first.frames(), diff.module_problems);
  AddProblemsOf(second.contents(), second.frames(), diff.module_problems);
  return diff;
}

}  // namespace

Expected<SnapshotDiff> DiffSnapshots(const fs::path& first, const fs::path& second,
                                     const DiffQuery& query, const UseStacks& use_stacks) {
  LEAKGATE_TRY_ASSIGN(OpenedSnapshot earlier, OpenSnapshot(first));
  LEAKGATE_TRY_ASSIGN(OpenedSnapshot later, OpenSnapshot(second));

  SnapshotDiff diff;
  diff.first = earlier.facts;
  diff.second = later.facts;
  diff.files = {PathText(first), PathText(second)};
  diff.is_same_process = IsSameProcess(diff.first, diff.second);
  diff.is_same_image = diff.is_same_process || AreOneProgram(diff.first, diff.second);
  if (!diff.is_same_process) return DiffSites(std::move(diff), query, use_stacks);
  if (diff.second.taken_ns < diff.first.taken_ns) {
    return UsageError(fmt::format("{} was taken after {}; name the earlier one first",
                                  PathText(first), PathText(second)));
  }
  diff.has_lines = true;
  return DiffBlocks(std::move(earlier.reader), std::move(later.reader), std::move(diff), query,
                    use_stacks);
}

}  // namespace leakgate
