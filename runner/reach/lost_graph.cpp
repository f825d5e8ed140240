#include "runner/reach/lost_graph.h"

#include <algorithm>
#include <limits>
#include <span>

#include "runner/base/time_limit.h"

namespace leakgate {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

}  // namespace

std::vector<std::uint32_t> LostGraph::FindComponents() const {
  struct Visit {
    std::uint32_t block;
    std::size_t next;  // of its pointers
  };
  const std::size_t count = pointers_.size();
  std::vector<std::uint32_t> components(count, kNone);
  std::vector<std::uint32_t> order(count, kNone);  // in which the blocks were met
  std::vector<std::uint32_t> lowest(count);        // that the block leads back to
  std::vector<std::uint32_t> open;                 // met, and of no component yet
  std::vector<Visit> visits;
  std::uint32_t met = 0;
  std::uint32_t component = 0;
  const auto visit = [&](std::uint32_t block) {
    order[block] = lowest[block] = met++;
    open.push_back(block);
    visits.push_back({block, 0});
  };
  TimeCheck time;
  for (std::uint32_t first = 0; first < count; ++first) {
    if (order[first] == kNone) visit(first);
    while (!visits.empty()) {
      time.Step();
      const std::uint32_t block = visits.back().block;
      const std::span<const std::uint32_t> targets = pointers_.Of(block);
      if (visits.back().next < targets.size()) {
        const std::uint32_t target = targets[visits.back().next++];
        if (order[target] == kNone) {
          visit(target);
        } else if (components[target] == kNone) {
          lowest[block] = std::min(lowest[block], order[target]);
        }
        continue;
      }
      visits.pop_back();
      if (!visits.empty()) {
        std::uint32_t& around = lowest[visits.back().block];
        around = std::min(around, lowest[block]);
      }
      if (lowest[block] != order[block]) continue;
      while (components[block] == kNone) {
        components[open.back()] = component;
        open.pop_back();
      }
      ++component;
    }
  }
  return components;
}

std::vector<std::uint32_t> LostGraph::FindRoots() const {
  const std::vector<std::uint32_t> components = FindComponents();
  const auto is_made_before = [&](std::uint32_t a, std::uint32_t b) {
    return made_[a] != made_[b] ? made_[a] < made_[b] : a < b;
  };
  std::vector<std::uint32_t> firsts(components.size(), kNone);  // by component
  std::vector<bool> is_led_to(components.size());
  for (std::uint32_t block = 0; block < components.size(); ++block) {
    std::uint32_t& first = firsts[components[block]];
    if (first == kNone || is_made_before(block, first)) first = block;
    for (const std::uint32_t target : pointers_.Of(block)) {
      const std::uint32_t other = components[target];
      if (other != components[block]) is_led_to[other] = true;
    }
  }
  std::vector<std::uint32_t> roots;
  for (std::uint32_t component = 0; component < firsts.size(); ++component) {
    if (firsts[component] != kNone && !is_led_to[component]) roots.push_back(firsts[component]);
  }
  std::sort(roots.begin(), roots.end(), is_made_before);
  return roots;
}

std::vector<LostGraph::Way> LostGraph::FindWays() const {
  std::vector<Way> ways(pointers_.size(), Way{kNone, kNone});
  std::vector<std::uint32_t> queue;
  TimeCheck time;
  for (const std::uint32_t root : FindRoots()) {
    ways[root] = {root, root};
    queue.assign(1, root);
    for (std::size_t next = 0; next < queue.size(); ++next) {
      time.Step();
      const std::uint32_t block = queue[next];
      for (const std::uint32_t target : pointers_.Of(block)) {
        Way& way = ways[target];
        if (way.root != kNone) continue;
        way = {root, block};
        queue.push_back(target);
      }
    }
  }
  return ways;
}

}  // namespace leakgate
