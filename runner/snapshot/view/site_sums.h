// The sums of call sites, `Sums`, in one snapshot or recording and in another, by the sites' names:
// addresses mean nothing between two processes.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runner/region/amount.h"
#include "runner/snapshot/view/stack_frames.h"

namespace leakgate {

// Whether call sites on different lines are different sites.
enum class Lines { kTellApart, kMayHaveMoved };

// What identifies a call site in a comparison; not made printable.
struct SiteName {
  std::string name{};
  std::string place{};  // "src/net/pool.cc:88"; empty if it is not known

  friend auto operator<=>(const SiteName&, const SiteName&) = default;
};

// Returns the call site of `stack`. For a stack without frames, the name says why it has none.
[[nodiscard]] SiteName SiteNameOf(StackFrames& frames, std::uint32_t stack, Lines lines);

template <typename Sums>
struct Site {
  std::string name{};   // not made printable
  std::string place{};  // as of SiteName
  Sums sums{};
  bool is_users = false;  // the site is a frame of the user's own code
};

// Adds up by call site.
template <typename Sums>
class SiteSums {
 public:
  explicit SiteSums(Lines lines) : lines_(lines) {}

  // Adds `sums` to the call site that `frames` has for `stack`.
  void Add(StackFrames& frames, std::uint32_t stack, const Sums& sums) {
    const SiteName name = SiteNameOf(frames, stack, lines_);
    const auto [known, is_new] = sites_.try_emplace(name);
    if (is_new) {
      const std::optional<FrameId> site = frames.CallSiteOf(stack);
      known->second = {
          .name = name.name, .place = name.place, .is_users = site && frames.IsUsers(*site)};
    }
    known->second.sums += sums;
    total_ += sums;
  }

  [[nodiscard]] const Sums& total() const { return total_; }

  // Returns the sites whose sums are `shown`, those with the greatest `key` first. May be called
  // once.
  template <typename Shown, typename Key>
  [[nodiscard]] std::vector<Site<Sums>> Take(const Shown& shown, const Key& key) {
    std::vector<Site<Sums>> sites;
    for (auto& [name, site] : sites_) {
      if (shown(site.sums)) sites.push_back(std::move(site));
    }
    std::stable_sort(sites.begin(), sites.end(), [&](const Site<Sums>& a, const Site<Sums>& b) {
      return key(a.sums) > key(b.sums);
    });
    return sites;
  }

 private:
  const Lines lines_;
  Sums total_;
  std::map<SiteName, Site<Sums>> sites_;
};

// The sites of a comparison in the order in which they are shown.
template <typename Sums>
struct SiteParts {
  std::vector<const Site<Sums>*> grown{};   // the greatest growth first
  std::vector<const Site<Sums>*> shrunk{};  // the greatest loss first
  std::vector<const Site<Sums>*> same{};    // as much as before
};

// REQUIRES: `sites` are sorted by `growth`, the greatest first.
template <typename Sums, typename GrowthOf>
[[nodiscard]] SiteParts<Sums> PartsBy(const std::vector<Site<Sums>>& sites,
                                      const GrowthOf& growth_of) {
  SiteParts<Sums> parts;
  for (const Site<Sums>& site : sites) {
    const Amount growth = growth_of(site.sums);
    const bool has_grown = growth.bytes > 0 || (growth.bytes == 0 && growth.blocks > 0);
    auto& part = growth == Amount{} ? parts.same : has_grown ? parts.grown : parts.shrunk;
    part.push_back(&site);
  }
  std::reverse(parts.shrunk.begin(), parts.shrunk.end());
  return parts;
}

}  // namespace leakgate
