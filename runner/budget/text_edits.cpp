#include "runner/budget/text_edits.h"

#include <algorithm>
#include <utility>

namespace leakgate {

std::string Apply(std::vector<TextEdit> edits, std::string_view text) {
  std::sort(edits.begin(), edits.end(),
            [](const TextEdit& a, const TextEdit& b) { return a.begin < b.begin; });
  std::string edited;
  std::size_t done = 0;
  for (const TextEdit& edit : edits) {
    edited.append(text.substr(done, edit.begin - done)).append(edit.replacement);
    done = edit.end;
  }
  return edited.append(text.substr(done));
}

// An element goes with the comma before it, or, where none before it stays, with
// the one behind it.
std::vector<TextEdit> RemoveElements(const LocatedValue& array, const std::vector<bool>& removed) {
  if (std::all_of(removed.begin(), removed.end(), [](bool it) { return it; })) {
    if (removed.empty()) return {};
    return {{.begin = array.begin + 1, .end = array.end - 1, .replacement = ""}};
  }
  std::vector<TextEdit> edits;
  bool keeps_one = false;
  for (std::size_t i = 0; i < removed.size(); ++i) {
    const LocatedValue& element = array.elements[i];
    if (!removed[i]) {
      keeps_one = true;
    } else if (keeps_one) {
      edits.push_back({array.elements[i - 1].end, element.end, ""});
    } else {
      edits.push_back({element.begin, array.elements[i + 1].begin, ""});
    }
  }
  return edits;
}

}  // namespace leakgate
