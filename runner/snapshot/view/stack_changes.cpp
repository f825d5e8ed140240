#include "runner/snapshot/view/stack_changes.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "runner/attribution/leak_identity.h"
#include "runner/snapshot/view/stack_lookup.h"

namespace leakgate {
namespace {

bool HasChanged(const SnapshotChange& change) {
  return change.Growth() != Amount{} || change.appeared != Amount{} || change.gone != Amount{} ||
         change.ResidentGrowth() != 0;
}

}  // namespace

SnapshotChange& operator+=(SnapshotChange& a, const SnapshotChange& b) {
  a.before += b.before;
  a.after += b.after;
  a.appeared += b.appeared;
  a.gone += b.gone;
  a.resident_before = AddSaturating(a.resident_before, b.resident_before);
  a.resident_after = AddSaturating(a.resident_after, b.resident_after);
  return a;
}

SiteName SiteNameOf(StackFrames& frames, std::uint32_t stack, Lines lines) {
  const std::optional<FrameId> site = frames.CallSiteOf(stack);
  if (!site) return {NameWithoutFrames(stack), ""};
  const Frame& told = frames.Get(*site);
  const Frame frame = lines == Lines::kMayHaveMoved ? WithoutPosition(told) : told;
  return {NameOfFrame(frame), PlaceOfFrame(frame)};
}

std::vector<SiteChange> ChangesOf(SiteSums<SnapshotChange>& sites) {
  return sites.Take(HasChanged, [](const SnapshotChange& change) {
    return std::tuple(change.Growth().bytes, change.Growth().blocks);
  });
}

Churn& operator+=(Churn& a, const Churn& b) {
  a.allocated += b.allocated;
  a.freed += b.freed;
  a.gone += b.gone;
  return a;
}

Churn ChurnOf(Amount allocated, const SnapshotChange& change) {
  const auto positive = [](Amount amount) {
    return Amount{std::max<std::int64_t>(amount.bytes, 0),
                  std::max<std::int64_t>(amount.blocks, 0)};
  };
  return {.allocated = positive(allocated),
          .freed = positive(allocated - change.Growth()),
          .gone = positive(allocated - change.appeared)};
}

std::vector<SiteChurn> ChurnsOf(SiteSums<Churn>& sites) {
  return sites.Take(
      [](const Churn& churn) { return churn.gone != Amount{} || churn.freed != Amount{}; },
      [](const Churn& churn) {
        return std::tuple(churn.gone.bytes, churn.gone.blocks, churn.freed.bytes,
                          churn.freed.blocks);
      });
}

namespace {

// The call that made a mapping, and its time.
using Origin =
    std::tuple<AllocationKind, std::uint32_t, std::uint32_t, std::uint32_t, std::uint64_t>;

Origin OriginOf(const SnapshotMapping& mapping) {
  return {mapping.kind, mapping.stack, mapping.window, mapping.thread, mapping.mapped_ns};
}

std::uint64_t EndOf(const SnapshotMapping& mapping) {
  return mapping.address +
         std::min(mapping.bytes, ~mapping.address);  // a hostile one would wrap around
}

// A set of addresses. It sums up how far an address is above those below it.
class Distances {
 public:
  void Add(std::uint64_t address) { addresses_.push_back(address); }

  // REQUIRES: nothing is added afterwards.
  void Finish() {
    std::sort(addresses_.begin(), addresses_.end());
    sums_.assign(1, 0);
    for (const std::uint64_t address : addresses_) sums_.push_back(sums_.back() + address);
  }

  [[nodiscard]] std::uint64_t To(std::uint64_t address) const {
    const auto below = std::lower_bound(addresses_.begin(), addresses_.end(), address);
    const auto count = static_cast<std::size_t>(below - addresses_.begin());
    return count * address - sums_[count];
  }

 private:
  std::vector<std::uint64_t> addresses_;
  std::vector<std::uint64_t> sums_;  // entry n: of the first n, modulo 2^64
};

// The mappings of one origin. A file may have any number of them.
struct Ranges {
  Distances begins;
  Distances ends;

  // Returns how many bytes of the mappings are below `address`.
  [[nodiscard]] std::uint64_t BytesBelow(std::uint64_t address) const {
    return begins.To(address) - ends.To(address);
  }
};

// The mappings of one snapshot, by origin, to compare them with those of the other.
class Committed {
 public:
  explicit Committed(const std::vector<SnapshotMapping>& mappings) {
    for (const SnapshotMapping& mapping : mappings) {
      if (CommittedIn(mapping) == Amount{}) continue;
      Ranges& ranges = by_origin_[OriginOf(mapping)];
      ranges.begins.Add(mapping.address);
      ranges.ends.Add(EndOf(mapping));
    }
    for (auto& [origin, ranges] : by_origin_) {
      ranges.begins.Finish();
      ranges.ends.Finish();
    }
  }

  // Returns how many bytes of `mapping` the same call has mapped here. A mapping that moved to
  // another owner while it was copied may occur twice.
  [[nodiscard]] std::uint64_t BytesOf(const SnapshotMapping& mapping) const {
    const auto known = by_origin_.find(OriginOf(mapping));
    if (known == by_origin_.end()) return 0;
    const Ranges& ranges = known->second;
    const std::uint64_t bytes =
        ranges.BytesBelow(EndOf(mapping)) - ranges.BytesBelow(mapping.address);
    return std::min(bytes, mapping.bytes);
  }

 private:
  std::map<Origin, Ranges> by_origin_;
};

Amount NotIn(const Committed& others, const SnapshotMapping& mapping) {
  const std::uint64_t kept = others.BytesOf(mapping);
  return {static_cast<std::int64_t>(mapping.bytes - kept), kept == 0 ? 1 : 0};
}

}  // namespace

Amount CommittedIn(const SnapshotMapping& mapping) {
  if (mapping.protection == 0) return {};
  return {static_cast<std::int64_t>(mapping.bytes), 1};
}

std::int64_t ResidentIn(const SnapshotMapping& mapping) {
  return mapping.pages.are_known ? static_cast<std::int64_t>(mapping.pages.resident_bytes) : 0;
}

std::vector<StackChange> CompareMappings(const std::vector<SnapshotMapping>& before,
                                         const std::vector<SnapshotMapping>& after) {
  const Committed first(before);
  const Committed second(after);
  std::vector<StackChange> changes;
  for (const SnapshotMapping& mapping : before) {
    const Amount amount = CommittedIn(mapping);
    const std::int64_t resident = ResidentIn(mapping);
    if (amount == Amount{} && resident == 0) continue;
    SnapshotChange& change = changes.emplace_back(mapping.stack, SnapshotChange{}).second;
    change.before = amount;
    change.resident_before = resident;
    if (amount != Amount{}) change.gone = NotIn(second, mapping);
  }
  for (const SnapshotMapping& mapping : after) {
    const Amount amount = CommittedIn(mapping);
    const std::int64_t resident = ResidentIn(mapping);
    if (amount == Amount{} && resident == 0) continue;
    SnapshotChange& change = changes.emplace_back(mapping.stack, SnapshotChange{}).second;
    change.after = amount;
    change.resident_after = resident;
    if (amount != Amount{}) change.appeared = NotIn(first, mapping);
  }
  return changes;
}

}  // namespace leakgate
