// What is found out about the stacks of a file: their frames, whether they are to be shown, the
// component that is charged with them, and the groups that they are in.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runner/budget/budget_set.h"
#include "runner/result/finding.h"
#include "runner/snapshot/view/block_stream.h"
#include "runner/snapshot/view/group_by.h"
#include "runner/snapshot/view/stack_frames.h"

namespace leakgate {

struct StackQuery {
  // Patterns as in budget files. Each must match a frame of a stack that is shown.
  std::vector<std::string> filters{};
  std::vector<std::string> without{};  // none of these may
  std::vector<BudgetFile> budgets{};   // they define the components
};

// Returns "that match net::* and *Pool*, without std::*", or an empty text if all are shown.
[[nodiscard]] std::string FilterText(const StackQuery& query);

// It cannot be moved, since its members refer to each other.
class StackLookup {
 public:
  // `contents` may grow meanwhile, and must outlive this.
  StackLookup(const SnapshotContents& contents, StackQuery query, Symbolizer symbolizer);
  StackLookup(const StackLookup&) = delete;
  StackLookup& operator=(const StackLookup&) = delete;

  [[nodiscard]] const SnapshotContents& contents() const { return contents_; }
  [[nodiscard]] StackFrames& frames() { return frames_; }
  [[nodiscard]] const StackQuery& query() const { return query_; }
  [[nodiscard]] bool HasComponents() const { return !query_.budgets.empty(); }
  [[nodiscard]] bool IsFiltered() const {
    return !query_.filters.empty() || !query_.without.empty();
  }
  // Returns whether `stack` is to be shown.
  [[nodiscard]] bool Matches(std::uint32_t stack) { return filters_.Match(stack); }

  // Returns the component that is charged with what `stack` allocated, or an empty text. REQUIRES:
  // the facts are in `contents`.
  [[nodiscard]] std::string ComponentOf(std::uint32_t stack);

  // Returns why modules have no symbols, by path; only for modules whose frames were asked for.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> SymbolProblems() const;

 private:
  InnermostAnswer::Answer OwnerOfFrame(const Frame& frame) const;
  void SetBudgets();

  const SnapshotContents& contents_;
  StackQuery query_;
  Symbolizer symbolizer_;
  StackFrames frames_;
  StackFilters filters_;
  std::optional<BudgetSet> budgets_;  // set when components are asked for
  std::vector<const BudgetFile*> owners_;
  InnermostAnswer owner_of_;  // answers the index in owners_, plus 1
};

// Numbers the groups that stacks are in, in the order in which they are asked for. Stacks are
// grouped by site unless it is by stack, module or component.
class StackGrouping {
 public:
  struct Group {
    std::string name{};   // not made printable
    std::string place{};  // "src/net/pool.cc:88"; empty if there is none
  };

  StackGrouping(StackLookup& stacks, GroupBy by) : stacks_(stacks), by_(by) {}

  // Returns the number of the group that `stack` is in, from 0.
  [[nodiscard]] std::size_t GroupOf(std::uint32_t stack);
  [[nodiscard]] const std::vector<Group>& groups() const { return groups_; }

 private:
  [[nodiscard]] std::string TextOf(std::uint32_t stack);

  StackLookup& stacks_;
  GroupBy by_;
  std::map<std::uint64_t, std::size_t> by_key_;  // of sites and stacks
  std::map<std::string, std::size_t> by_text_;   // of the others
  std::vector<Group> groups_;
};

// Adds "MODULE: why it has no symbols" for each module whose frames were asked for, unless
// `problems` has that already.
void AddProblemsOf(const SnapshotContents& contents, const StackFrames& frames,
                   std::vector<std::string>& problems);

// Returns the key of the call site of a stack. Stacks of one file that have the same key are of one
// group of GroupBy::kSite.
[[nodiscard]] std::uint64_t SiteKeyOf(StackFrames& frames, std::uint32_t stack);
// Returns the name of a call site: its function, else "libnet.so+0x1a2b". It is not made
// printable.
[[nodiscard]] std::string NameOfFrame(const Frame& frame);
// Returns the text that is shown as the call site of a stack without frames: why it has none.
[[nodiscard]] std::string NameWithoutFrames(std::uint32_t stack);
// Returns "src/net/pool.cc:88", or an empty text if the place is not known.
[[nodiscard]] std::string PlaceOfFrame(const Frame& frame);

}  // namespace leakgate
