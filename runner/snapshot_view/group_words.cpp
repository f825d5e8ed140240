#include "runner/snapshot_view/group_words.h"

#include <algorithm>
#include <array>

namespace leakgate {
namespace {

struct GroupWords {
  GroupBy by;
  std::string_view word;
  std::string_view title;
};

constexpr std::array kGroupWords = {
    GroupWords{GroupBy::kSite, "site", "Call sites"},
    GroupWords{GroupBy::kStack, "stack", "Call stacks"},
    GroupWords{GroupBy::kModule, "module", "Modules"},
    GroupWords{GroupBy::kComponent, "component", "Components"},
    GroupWords{GroupBy::kThread, "thread", "Threads"},
    GroupWords{GroupBy::kWindow, "window", "Windows"},
    GroupWords{GroupBy::kAge, "age", "Age"},
    GroupWords{GroupBy::kKind, "kind", "Kinds"},
    GroupWords{GroupBy::kSize, "size", "Sizes of blocks"},
    GroupWords{GroupBy::kFreedBy, "freed-by", "Freed by"},
};

const GroupWords& WordsOf(GroupBy by) {
  return *std::find_if(kGroupWords.begin(), kGroupWords.end(),
                       [&](const GroupWords& words) { return words.by == by; });
}

}  // namespace

std::optional<GroupBy> ParseGroupBy(std::string_view word) {
  const auto found = std::find_if(kGroupWords.begin(), kGroupWords.end(),
                                  [&](const GroupWords& it) { return it.word == word; });
  if (found == kGroupWords.end()) return std::nullopt;
  return found->by;
}

std::string_view Word(GroupBy by) { return WordsOf(by).word; }

std::string_view TitleOf(GroupBy by) { return WordsOf(by).title; }

std::vector<GroupBy> AllGroupings() {
  std::vector<GroupBy> all;
  for (const GroupWords& words : kGroupWords) all.push_back(words.by);
  return all;
}

}  // namespace leakgate
