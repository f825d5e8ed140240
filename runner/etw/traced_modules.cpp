#include "runner/etw/traced_modules.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace leakgate {
namespace {

constexpr std::uint64_t kStillThere = std::numeric_limits<std::uint64_t>::max();

}  // namespace

std::uint64_t TracedModules::MakeRoom(const Module& module, std::uint64_t time) {
  std::uint64_t ended = 0;
  for (auto at = spans_.lower_bound(module.end); at != spans_.begin();) {
    --at;
    if (module.begin >= at->first && module.begin - at->first >= longest_bytes_) break;
    Span& last = at->second.back();
    if (modules_[last.module].end <= module.begin) continue;
    last.unloaded = std::min(last.unloaded, time);
    ended = std::max(ended, last.unloaded);
  }
  return ended;
}

void TracedModules::Add(Module module, std::uint64_t loaded) {
  longest_bytes_ = std::max(longest_bytes_, module.end - module.begin);
  spans_[module.begin].push_back({modules_.size(), loaded, kStillThere});
  modules_.push_back(std::move(module));
}

void TracedModules::Load(Module module, std::uint64_t time) {
  MakeRoom(module, time);
  Add(std::move(module), time);
  changes_.push_back(time);
}

void TracedModules::Meet(Module module, std::uint64_t time) {
  const auto found = spans_.find(module.begin);
  if (found != spans_.end() && found->second.back().unloaded == kStillThere) {
    const Module& there = modules_[found->second.back().module];
    if (there.end == module.end && there.path == module.path) return;
  }
  const std::uint64_t loaded = MakeRoom(module, time);
  Add(std::move(module), loaded);
  if (loaded == time) changes_.push_back(time);  // earlier ones are among the changes
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
    if (address - at->first >= longest_bytes_) break;
    const std::vector<Span>& spans = at->second;
    const auto after = std::ranges::upper_bound(spans, time, {}, &Span::loaded);
    if (after == spans.begin() || time >= std::prev(after)->unloaded) continue;
    const std::size_t module = std::prev(after)->module;
    if (address < modules_[module].end) return module;
    return std::nullopt;
  }
  return std::nullopt;
}

std::size_t TracedModules::CountChanges(std::uint64_t time) const {
  return static_cast<std::size_t>(std::upper_bound(changes_.begin(), changes_.end(), time) -
                                  changes_.begin());
}

}  // namespace leakgate
