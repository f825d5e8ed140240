#include "plugin/agent/stack_table.h"

#include "plugin/agent/linux/syscall.h"

namespace leakgate::agent {

constinit StackTable g_stacks;

// Open addressing. An entry holds a node's number and its whole hash, so that
// neither a look-up that finds nothing nor a larger index has to look at nodes:
// each would be a cache miss. Number 0: empty. An index that has been replaced
// stays mapped: another thread may still be reading it.
class StackTable::Index {
 public:
  using Entry = std::atomic<std::uint64_t>;

  static Index* Create(std::uint32_t capacity) {
    const std::size_t bytes = sizeof(Index) + std::size_t{capacity} * sizeof(Entry);
    auto* const index = static_cast<Index*>(MapPrivate(bytes));
    if (index != nullptr) index->mask_ = capacity - 1;
    return index;
  }

  static std::uint32_t Hash(const StackNode& node) {
    // Fibonacci hashing (Knuth, TAOCP 6.4): its good bits are the high ones, so
    // they are folded down, and the parent's first, or siblings would cluster.
    std::uint64_t key =
        node.pc ^ (std::uint64_t{node.parent} << 32) ^ (std::uint64_t{node.module} << 16);
    key = (key ^ (key >> 32)) * 0x9E37'79B9'7F4A'7C15ULL;
    return static_cast<std::uint32_t>(key ^ (key >> 32));
  }

  std::uint32_t capacity() const { return mask_ + 1; }

  // The number of the node that is `child`, or 0.
  std::uint32_t Find(std::uint32_t hash, const StackNode& child) const {
    for (std::uint32_t at = hash;; ++at) {
      const std::uint64_t entry = entries_[at & mask_].load(std::memory_order_acquire);
      const auto number = static_cast<std::uint32_t>(entry);
      if (number == 0) return 0;
      if (static_cast<std::uint32_t>(entry >> 32) != hash) continue;
      const StackNode& node = g_region.stacks()[number];
      if (node.pc == child.pc && node.parent == child.parent && node.module == child.module) {
        return number;
      }
    }
  }

  void Add(std::uint32_t hash, std::uint32_t number) {
    std::uint32_t at = hash;
    while (entries_[at & mask_].load(std::memory_order_relaxed) != 0) ++at;
    // Release pairs with the acquire in Find: the node is there.
    entries_[at & mask_].store((std::uint64_t{hash} << 32) | number, std::memory_order_release);
  }

  // In order, so that the larger index is written in two sequential streams.
  void AddAllTo(Index& larger) const {
    for (std::uint32_t at = 0; at <= mask_; ++at) {
      const std::uint64_t entry = entries_[at].load(std::memory_order_relaxed);
      if (entry != 0) {
        larger.Add(static_cast<std::uint32_t>(entry >> 32), static_cast<std::uint32_t>(entry));
      }
    }
  }

 private:
  std::uint32_t mask_;
  std::uint32_t reserved_;
  Entry entries_[1];  // capacity() of them
};

namespace {

constexpr std::uint32_t kFirstCapacity = 1U << 12;

void CountEnd(UnwindEnd end) {
  g_region.header().stack_ends[static_cast<std::uint32_t>(end)].fetch_add(
      1, std::memory_order_relaxed);
}

}  // namespace

bool StackTable::Start() {
  Index* const index = Index::Create(kFirstCapacity);
  index_.store(index, std::memory_order_release);
  g_region.header().stack_node_count.store(kStackRootCount, std::memory_order_relaxed);
  return index != nullptr;
}

StackTable::Interned StackTable::Intern(std::uint32_t kept, StackTrail& trail) {
  Interned stack{kept != 0 ? trail.frames[kept - 1].node : static_cast<std::uint32_t>(trail.end),
                 false};
  for (std::uint32_t i = kept; i < trail.depth; ++i) {
    const Interned child = Child(stack.id, trail.frames[i]);
    if (child.id == 0) {
      trail.is_provable = false;  // its inner frames have no nodes to keep
      CountEnd(UnwindEnd::kTableFull);
      return stack;
    }
    stack = child;
    trail.frames[i].node = child.id;
  }
  if (stack.is_new) CountEnd(trail.end);
  return stack;
}

StackTable::Interned StackTable::Child(std::uint32_t parent, const TrailFrame& frame) {
  const StackNode child{frame.pc, parent, frame.module};
  const std::uint32_t hash = Index::Hash(child);
  const std::uint32_t found = index_.load(std::memory_order_acquire)->Find(hash, child);
  return found != 0 ? Interned{found, false} : AddChild(hash, child);
}

// Id 0 if there is no room.
StackTable::Interned StackTable::AddChild(std::uint32_t hash, const StackNode& child) {
  const SpinGuard guard(lock_);
  const std::uint32_t found = index_.load(std::memory_order_relaxed)->Find(hash, child);
  if (found != 0) return {found, false};

  std::atomic<std::uint32_t>& count = g_region.header().stack_node_count;
  const std::uint32_t number = count.load(std::memory_order_relaxed);
  if (!HasRoomFor(number)) return {0, false};
  g_region.stacks()[number] = child;
  count.store(number + 1, std::memory_order_release);
  index_.load(std::memory_order_relaxed)->Add(hash, number);
  return {number, true};
}

bool StackTable::HasRoomFor(std::uint32_t number) {
  if (number >= kMaxStackNodes) return false;
  Index& index = *index_.load(std::memory_order_relaxed);
  if (number <= index.capacity() / 2) return true;
  Index* const larger = Index::Create(index.capacity() * 2);
  if (larger == nullptr) return false;
  index.AddAllTo(*larger);
  index_.store(larger, std::memory_order_release);
  return true;
}

}  // namespace leakgate::agent
