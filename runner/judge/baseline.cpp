#include "runner/judge/baseline.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "runner/attribution/leak_identity.h"
#include "runner/region/amount.h"

namespace leakgate {
namespace {

// What the baseline counted together: all that could count.
bool CanBeKnown(Disposition disposition) {
  return disposition == Disposition::kOutstanding || disposition == Disposition::kUnconfirmed ||
         disposition == Disposition::kReplaced;
}

}  // namespace

std::string PathInBaseline(AllocationKind kind, const std::vector<Frame>& stack) {
  return (IsMapped(kind) ? "mapped\n" : "") + SymbolicPath(stack);
}

Baseline MakeBaseline(std::string path, BaselineWindows windows) {
  const auto kept = std::make_shared<const BaselineWindows>(std::move(windows));
  return {std::move(path), [kept](const std::string& identity) -> const BaselineWindow* {
            const auto known = kept->find(identity);
            return known == kept->end() ? nullptr : &known->second;
          }};
}

void MarkKnownBlocks(const BaselineWindow* baseline, CallSites& sites, WindowEvidence& evidence) {
  std::map<std::uint32_t, std::string> paths;  // by stack
  std::map<std::string, std::int64_t> counts;
  std::vector<std::pair<std::size_t, const std::string*>> candidates;
  for (std::size_t i = 0; i < evidence.blocks.size(); ++i) {
    if (evidence.facts[i].passes_unseen) continue;  // it is in no baseline
    const std::uint32_t stack = evidence.blocks[i].stack;
    const Finding& site = sites.Of(stack).finding;
    if (!IsUsers(site) || !CanBeKnown(evidence.facts[i].disposition)) continue;
    const auto [path, is_new] = paths.try_emplace(stack);
    if (is_new) path->second = PathInBaseline(evidence.blocks[i].kind, site.stack);
    counts[path->second] += evidence.facts[i].blocks;
    candidates.emplace_back(i, &path->second);
  }
  for (const auto& [index, path] : candidates) {
    BlockFacts& facts = evidence.facts[index];
    facts.baseline = BaselineState::kNew;
    if (baseline == nullptr) continue;
    const auto known = baseline->blocks.find(*path);
    if (known == baseline->blocks.end()) continue;
    const std::int64_t count = counts.at(*path);
    if (count <= known->second) {
      facts.baseline = BaselineState::kKnown;
      facts.disposition = Disposition::kKnown;
      facts.explanation = {};
    } else if (facts.explanation.empty()) {
      facts.explanation =
          fmt::format("{} here, {} in the baseline", FormatCount(count, "block"), known->second);
    }
  }
}

void ApplyBaseline(const BaselineWindow* baseline, WindowResult& window) {
  if (baseline != nullptr) window.baseline_excess = baseline->excess;
  for (FreeErrorResult& error : window.free_errors) {
    const bool is_known = baseline != nullptr && baseline->free_errors.contains(FreeErrorIdentity(
                                                     error.text, error.freed_at.stack));
    error.baseline = is_known ? BaselineState::kKnown : BaselineState::kNew;
  }
}

}  // namespace leakgate
