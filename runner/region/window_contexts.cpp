#include "runner/region/window_contexts.h"

#include <algorithm>

#include "runner/region/shared_copy.h"

namespace leakgate {

bool WindowContexts::Note(std::uint32_t context, const ContextRecord* table) {
  const std::uint32_t window = CopyOf(&table[context]).window;
  if (window == 0) return false;
  if (window >= kMaxWindows) return true;
  if (window >= ranges_.size()) ranges_.resize(window + 1);
  ContextRange& range = ranges_[window];
  if (range.IsEmpty()) range = {context, context};
  range = {std::min(range.first, context), std::max(range.last, context)};
  return true;
}

ContextRange WindowContexts::Of(std::uint32_t window, const ContextRecord* table,
                                std::uint32_t count) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(without_window_, [&](std::uint32_t context) { return Note(context, table); });
  for (const std::uint32_t end = std::min(count, kMaxContexts); read_ < end; ++read_) {
    if (!Note(read_, table)) without_window_.push_back(read_);
  }
  if (window == 0) return {0, kMaxContexts - 1};
  return window < ranges_.size() ? ranges_[window] : ContextRange{};
}

}  // namespace leakgate
