#include "runner/snapshot_view/mapping_diff.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace leakgate {
namespace {

// Who made it, and when.
using Origin =
    std::tuple<AllocationKind, std::uint32_t, std::uint32_t, std::uint32_t, std::uint64_t>;

Origin OriginOf(const SnapshotMapping& mapping) {
  return {mapping.kind, mapping.stack, mapping.window, mapping.thread, mapping.mapped_ns};
}

std::uint64_t Overlap(const SnapshotMapping& a, const SnapshotMapping& b) {
  const std::uint64_t begin = std::max(a.address, b.address);
  const std::uint64_t end = std::min(a.address + a.bytes, b.address + b.bytes);
  return end > begin ? end - begin : 0;
}

// The mappings of one snapshot, to look for those of the other among them.
class Committed {
 public:
  explicit Committed(const std::vector<SnapshotMapping>& mappings) {
    for (const SnapshotMapping& mapping : mappings) {
      if (CommittedIn(mapping) != Amount{}) by_origin_[OriginOf(mapping)].push_back(&mapping);
    }
  }

  // How many bytes of `mapping` are here, too, by the same call. One that changed hands while
  // it was copied may be there twice.
  [[nodiscard]] std::uint64_t BytesOf(const SnapshotMapping& mapping) const {
    const auto known = by_origin_.find(OriginOf(mapping));
    if (known == by_origin_.end()) return 0;
    std::uint64_t bytes = 0;
    for (const SnapshotMapping* const other : known->second) bytes += Overlap(mapping, *other);
    return std::min(bytes, mapping.bytes);
  }

 private:
  std::map<Origin, std::vector<const SnapshotMapping*>> by_origin_;
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

std::vector<StackChange> CompareMappings(const std::vector<SnapshotMapping>& before,
                                         const std::vector<SnapshotMapping>& after) {
  const Committed first(before);
  const Committed second(after);
  std::vector<StackChange> changes;
  for (const SnapshotMapping& mapping : before) {
    const Amount amount = CommittedIn(mapping);
    if (amount == Amount{}) continue;
    SnapshotChange& change = changes.emplace_back(mapping.stack, SnapshotChange{}).second;
    change.before = amount;
    change.gone = NotIn(second, mapping);
  }
  for (const SnapshotMapping& mapping : after) {
    const Amount amount = CommittedIn(mapping);
    if (amount == Amount{}) continue;
    SnapshotChange& change = changes.emplace_back(mapping.stack, SnapshotChange{}).second;
    change.after = amount;
    change.appeared = NotIn(first, mapping);
  }
  return changes;
}

}  // namespace leakgate
