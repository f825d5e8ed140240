#include "runner/snapshot/view/stack_lookup.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "runner/attribution/code_owner.h"
#include "runner/attribution/wrappers.h"
#include "runner/base/path_text.h"
#include "runner/report/finding_text.h"
#include "runner/symbols/name_text.h"

namespace leakgate {

std::string FilterText(const StackQuery& query) {
  std::string text;
  if (!query.filters.empty()) {
    text = fmt::format("that match {}", fmt::join(query.filters, " and "));
  }
  if (query.without.empty()) return text;
  return text +
         fmt::format("{}without {}", text.empty() ? "" : ", ", fmt::join(query.without, " or "));
}

StackLookup::StackLookup(const SnapshotContents& contents, StackQuery query, Symbolizer symbolizer)
    : contents_(contents),
      query_(std::move(query)),
      symbolizer_(std::move(symbolizer)),
      frames_(contents_, symbolizer_),
      filters_(query_.filters, query_.without, frames_),
      owner_of_(frames_, [this](FrameId frame) { return OwnerOfFrame(frames_.Get(frame)); }) {
  std::vector<const BudgetFile*> files;
  for (const BudgetFile& file : query_.budgets) files.push_back(&file);
  symbolizer_.MarkWrappers(FindWrappersBy(DeclaredWrappers(files)));
}

// Which budgets apply is known only when the program is known.
void StackLookup::SetBudgets() {
  if (budgets_) return;
  budgets_.emplace(query_.budgets, contents_.facts.name);
  owners_ = budgets_->CodeOwners();
}

// The file for code without an owner is checked last, below.
InnermostAnswer::Answer StackLookup::OwnerOfFrame(const Frame& frame) const {
  const BudgetFile* const owner = OwnerOf(owners_, {frame});
  if (owner == nullptr || owner->component == kUnowned) return InnermostAnswer::kNone;
  const auto found = std::find(owners_.begin(), owners_.end(), owner);
  return static_cast<InnermostAnswer::Answer>(found - owners_.begin()) + 1;
}

std::string StackLookup::ComponentOf(std::uint32_t stack) {
  SetBudgets();
  const InnermostAnswer::Answer owner = owner_of_.Of(stack);
  if (owner != InnermostAnswer::kNone) return owners_[owner - 1]->component;
  const bool has_unowned = std::any_of(owners_.begin(), owners_.end(), [](const BudgetFile* file) {
    return file->component == kUnowned;
  });
  return has_unowned ? kUnowned : "";
}

std::vector<std::pair<std::string, std::string>> StackLookup::SymbolProblems() const {
  std::vector<std::pair<std::string, std::string>> problems;
  for (const auto& [id, problem] : frames_.problems()) {
    problems.emplace_back(contents_.modules.at(id).module.path, problem);
  }
  return problems;
}

void AddProblemsOf(const SnapshotContents& contents, const StackFrames& frames,
                   std::vector<std::string>& problems) {
  for (const auto& [id, problem] : frames.problems()) {
    std::string text = contents.modules.at(id).module.path + ": " + problem;
    const auto known = std::find(problems.begin(), problems.end(), text);
    if (known == problems.end()) problems.push_back(std::move(text));
  }
}

std::size_t StackGrouping::GroupOf(std::uint32_t stack) {
  if (by_ == GroupBy::kModule || by_ == GroupBy::kComponent) {
    std::string text = TextOf(stack);
    const auto [known, is_new] = by_text_.try_emplace(text, groups_.size());
    if (is_new) groups_.push_back({.name = std::move(text)});
    return known->second;
  }
  std::optional<FrameId> site = stacks_.frames().CallSiteOf(stack);
  if (by_ == GroupBy::kStack && site && stacks_.frames().IsUsers(*site)) {
    site = stacks_.frames().InnermostUsersOf(stack);
  }
  const std::uint64_t key = by_ == GroupBy::kStack ? stack : SiteKeyOf(stacks_.frames(), stack);
  const auto [known, is_new] = by_key_.try_emplace(key, groups_.size());
  if (is_new) {
    groups_.push_back(
        {.name = site ? NameOfFrame(stacks_.frames().Get(*site)) : NameWithoutFrames(stack),
         .place = site ? PlaceOfFrame(stacks_.frames().Get(*site)) : ""});
  }
  return known->second;
}

std::string StackGrouping::TextOf(std::uint32_t stack) {
  if (by_ == GroupBy::kComponent) {
    const std::string component = stacks_.ComponentOf(stack);
    return component.empty() ? "no component" : component;
  }
  const std::optional<FrameId> site = stacks_.frames().CallSiteOf(stack);
  if (!site) return NameWithoutFrames(stack);
  const std::string module = stacks_.frames().Get(*site).module;
  return module.empty() ? "no known module" : module;
}

// The keys of stacks without frames encode why there are none. They are above all ids of frames.
std::uint64_t SiteKeyOf(StackFrames& frames, std::uint32_t stack) {
  const std::optional<FrameId> site = frames.CallSiteOf(stack);
  return site ? frames.PlaceOf(*site) : (std::uint64_t{1} << 32) | stack;
}

std::string NameOfFrame(const Frame& frame) {
  if (!frame.function.empty()) return ReadableSignature(frame.function);
  if (frame.module.empty()) return fmt::format("{:#x} in no known module", frame.module_offset);
  return ModuleAndOffset(frame);
}

std::string NameWithoutFrames(std::uint32_t stack) {
  const bool is_not_taken = stack == static_cast<std::uint32_t>(UnwindEnd::kNotTaken);
  return is_not_taken ? "stack not taken (--stacks)" : "no call stack was recorded";
}

std::string PlaceOfFrame(const Frame& frame) {
  if (frame.file.empty()) {
    return frame.function.empty() ? "" : FileNameIn(frame.module);
  }
  return frame.line == 0 ? frame.file : fmt::format("{}:{}", frame.file, frame.line);
}

}  // namespace leakgate
