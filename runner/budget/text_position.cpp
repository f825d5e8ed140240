#include "runner/budget/text_position.h"

#include <algorithm>
#include <iterator>

namespace leakgate {

std::size_t ByteOrderMarkLength(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  return text.starts_with(kMark) ? kMark.size() : 0;
}

TextLines::TextLines(std::string_view text) : begins_{ByteOrderMarkLength(text)} {
  for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at)) {
    begins_.push_back(++at);
  }
}

TextPosition TextLines::At(std::size_t offset) const {
  const auto next = std::upper_bound(std::next(begins_.begin()), begins_.end(), offset);
  const std::size_t begin = std::min(*std::prev(next), offset);
  return {static_cast<int>(std::distance(begins_.begin(), next)),
          static_cast<int>(offset - begin) + 1};
}

}  // namespace leakgate
