#include "runner/judge/baseline.h"

#include <fmt/format.h>

#include <algorithm>

#include "runner/attribution/frame_origin.h"
#include "runner/region/quantity_text.h"
#include "runner/result/words.h"
#include "runner/symbols/name_text.h"

namespace leakgate {
namespace {

// Compilers number the lambdas of a function, and the copies that they make of one.
std::string WithoutNumbers(std::string_view name) {
  name = name.substr(0, name.find(" [clone"));
  std::string plain;
  for (std::size_t hash; (hash = name.find('#')) != std::string_view::npos;) {
    plain += name.substr(0, hash);
    name.remove_prefix(std::min(name.find_first_not_of("0123456789", hash + 1), name.size()));
  }
  return plain.append(name);
}

std::string NameOf(const Frame& frame) {
  std::string name = QualifiedNameOf(frame.function);
  if (name.empty()) name = frame.function;
  if (!name.empty()) return WithoutNumbers(name);
  return frame.module.substr(frame.module.rfind('/') + 1);
}

// Not what is around every program.
bool IsUsersOwn(const Frame& frame) {
  return OriginOf(frame) == FrameOrigin::kUser && frame.function != "main" &&
         frame.function != "_start";
}

// What the baseline counted together: all that could count.
bool CanBeKnown(Disposition disposition) {
  return disposition == Disposition::kOutstanding || disposition == Disposition::kUnconfirmed ||
         disposition == Disposition::kReplaced;
}

}  // namespace

std::string SymbolicPath(const std::vector<Frame>& stack) {
  const auto outermost = std::find_if(stack.rbegin(), stack.rend(), IsUsersOwn);
  const auto end = outermost == stack.rend() ? stack.end() : outermost.base();
  std::string path;
  std::string last;
  for (auto frame = stack.begin(); frame != end; ++frame) {
    std::string name = NameOf(*frame);
    if (frame != stack.begin() && name == last) continue;  // however deep a recursion goes
    path += name + '\n';
    last = std::move(name);
  }
  return path;
}

std::string WindowIdentity(WindowKind kind, const std::string& name) {
  if (kind == WindowKind::kProgram) return "program";
  return fmt::format("{} {}", Word(kind), name);
}

std::string FreeErrorIdentity(const std::string& text, const std::vector<Frame>& freed_at) {
  return text + '\n' + SymbolicPath(freed_at);
}

void MarkKnown(const BaselineWindow* baseline, CallSites& sites, WindowEvidence& evidence) {
  std::map<std::uint32_t, std::string> paths;  // by stack
  std::map<std::string, std::int64_t> counts;
  std::vector<std::pair<std::size_t, const std::string*>> candidates;
  for (std::size_t i = 0; i < evidence.blocks.size(); ++i) {
    const std::uint32_t stack = evidence.blocks[i].stack;
    const Finding& site = sites.Of(stack).finding;
    if (!IsUsers(site) || !CanBeKnown(evidence.facts[i].disposition)) continue;
    const auto [path, is_new] = paths.try_emplace(stack);
    if (is_new) path->second = SymbolicPath(site.stack);
    ++counts[path->second];
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

void MarkKnown(const BaselineWindow* baseline, WindowResult& window) {
  if (baseline != nullptr) window.baseline_excess = baseline->excess;
  for (FreeErrorResult& error : window.free_errors) {
    const bool is_known = baseline != nullptr && baseline->free_errors.contains(FreeErrorIdentity(
                                                     error.text, error.freed_at.stack));
    error.baseline = is_known ? BaselineState::kKnown : BaselineState::kNew;
  }
}

}  // namespace leakgate
