#include "runner/etw/traced_modules.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace leakgate {

void TracedModules::Load(Module module, std::uint64_t time) {
  std::vector<Span>& spans = spans_[module.begin];
  if (!spans.empty()) spans.back().unloaded = std::min(spans.back().unloaded, time);
  spans.push_back({modules_.size(), time, std::numeric_limits<std::uint64_t>::max()});
  modules_.push_back(std::move(module));
  changes_.push_back(time);
}

void TracedModules::Unload(std::uint64_t begin, std::uint64_t time) {
  const auto found = spans_.find(begin);
  if (found == spans_.end()) return;
  found->second.back().unloaded = time;
  changes_.push_back(time);
}

std::optional<std::size_t> TracedModules::Find(std::uint64_t address, std::uint64_t time) const {
  // Modules of other times may begin between this one and the address.
  for (auto at = spans_.upper_bound(address); at != spans_.begin();) {
    --at;
    for (const Span& span : at->second) {
      const bool is_there = span.loaded <= time && time < span.unloaded;
      if (is_there) {
        if (address < modules_[span.module].end) return span.module;
        return std::nullopt;
      }
    }
  }
  return std::nullopt;
}

std::size_t TracedModules::CountChanges(std::uint64_t time) const {
  return static_cast<std::size_t>(std::upper_bound(changes_.begin(), changes_.end(), time) -
                                  changes_.begin());
}

}  // namespace leakgate
