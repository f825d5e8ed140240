#include "runner/judge/contents.h"

#include <fmt/format.h>

#include <algorithm>

#include "runner/process/proc_files.h"

namespace leakgate {
namespace {

constexpr std::size_t kMostBytes = 64;
constexpr std::size_t kMostStacks = 64;
constexpr std::ptrdiff_t kMostFindings = 3;  // that show theirs where not all are asked for

std::string HexOf(std::string_view bytes) {
  std::string hex;
  for (const char byte : bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return hex;
}

}  // namespace

void ContentsReader::Read(const LiveBlock& block, BlockFacts& facts) {
  const bool is_wanted = pid_ != 0 && IsLost(facts.reach) && facts.leading.address == 0 &&
                         facts.disposition == Disposition::kOutstanding && facts.contents.empty();
  if (!is_wanted || stacks_.size() == kMostStacks || !stacks_.insert(block.stack).second) return;
  facts.contents =
      HexOf(ReadMemoryOf(pid_, block.address, std::min<std::size_t>(block.size_bytes, kMostBytes)));
}

void LimitContents(ShownContents shown, WindowResult& result) {
  const auto has_any = [](const Finding& finding) { return !finding.contents.empty(); };
  const auto may_show = [&](const Finding& finding) {
    return result.budget->shows_contents &&
           std::none_of(result.code_budgets.begin(), result.code_budgets.end(),
                        [&](const auto& budget) {
                          return budget->component == finding.component && !budget->shows_contents;
                        });
  };
  const bool are_many =
      shown != ShownContents::kAll &&
      std::count_if(result.findings.begin(), result.findings.end(), has_any) > kMostFindings;
  for (Finding& finding : result.findings) {
    if (has_any(finding) && (are_many || !may_show(finding))) finding.contents.clear();
  }
}

}  // namespace leakgate
