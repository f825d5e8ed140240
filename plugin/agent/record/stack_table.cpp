#include "plugin/agent/record/stack_table.h"

#include "common/system.h"
#include "plugin/agent/base/region.h"

#include LEAKGATE_AGENT(syscall)

namespace leakgate::agent {

constinit StackTable g_stacks;

namespace {

// Longer lists would cost more than a cache miss.
constexpr std::uint32_t kMaxListed = 8;
constexpr std::uint32_t kFirstCapacity = 1U << 12;

StackNode& Node(std::uint32_t number) { return g_region.stacks()[number]; }

bool IsAt(const StackNode& node, const TrailFrame& frame) {
  return node.pc == frame.pc && node.module == frame.module;
}

std::uint32_t Hash(std::uint64_t pc, std::uint32_t parent, std::uint32_t module) {
  // Fibonacci hashing (Knuth, TAOCP 6.4): its good bits are the high ones, so
  // they are folded down, and the parent's first, or siblings would cluster.
  std::uint64_t key = pc ^ (std::uint64_t{parent} << 32) ^ (std::uint64_t{module} << 16);
  key = (key ^ (key >> 32)) * 0x9E37'79B9'7F4A'7C15ULL;
  return static_cast<std::uint32_t>(key ^ (key >> 32));
}

// Returns whether there is memory for nodes, and for what is counted for them.
bool MakeRoomForNodes(std::uint32_t first, std::uint32_t count) {
  const std::uint32_t events = g_region.header().stack_events;
  const std::size_t tallies = count * sizeof(Tally);
  return MakeRoom(&Node(first), count * sizeof(StackNode)) &&
         ((events & kStacksOfFree) == 0 || MakeRoom(&g_region.freed_by()[first], tallies)) &&
         ((events & kCountsAllocations) == 0 || MakeRoom(&g_region.allocated_by()[first], tallies));
}

void CountEnd(UnwindEnd end) {
  g_region.header().stack_ends[static_cast<std::uint32_t>(end)].fetch_add(
      1, std::memory_order_relaxed);
}

}  // namespace

// An open hash table. An entry holds a node's number and its whole hash, so that neither an
// unsuccessful look-up nor the growth of the index reads nodes: each read would be a cache miss.
// Number 0: empty. An index that has been replaced stays mapped, because another thread may still
// be reading it.
class StackTable::Index {
 public:
  static Index* Create(std::uint32_t capacity) {
    const std::size_t bytes = sizeof(Index) + std::size_t{capacity} * sizeof(Entry);
    auto* const index = static_cast<Index*>(MapOwn(bytes));
    if (index != nullptr) index->mask_ = capacity - 1;
    return index;
  }

  // Resets the index to its initial state, for a new region.
  void Restart() {
    const std::uint32_t mask = mask_;
    ClearPages(this, Bytes());
    mask_ = mask;
    NoteOwnMemory(this, Bytes());
  }

  // Frees this index and those that were retired before it.
  static void FreeAll(Index* index) {
    while (index != nullptr) {
      Index* const before = index->retired_before_;
      Unmap(index, index->Bytes());
      index = before;
    }
  }
  void RetireAfter(Index* before) { retired_before_ = before; }

  bool IsFull() const { return used_ > mask_ / 2; }

  // The number of the node that is `frame` below `parent`, or 0.
  std::uint32_t Find(std::uint32_t parent, const TrailFrame& frame) const {
    const std::uint32_t hash = Hash(frame.pc, parent, frame.module);
    for (std::uint32_t at = hash;; ++at) {
      const std::uint64_t entry = entries_[at & mask_].load(std::memory_order_acquire);
      const auto number = static_cast<std::uint32_t>(entry);
      if (number == 0) return 0;
      if (static_cast<std::uint32_t>(entry >> 32) != hash) continue;
      if (Node(number).parent == parent && IsAt(Node(number), frame)) return number;
    }
  }

  // REQUIRES: not IsFull().
  void Add(std::uint32_t number) {
    const StackNode& node = Node(number);
    Add(Hash(node.pc, node.parent, node.module), number);
  }

  // Twice as large, with the same entries; nullptr if there is no memory.
  Index* Grown() const {
    Index* const larger = Create((mask_ + 1) * 2);
    if (larger == nullptr) return nullptr;
    // This order writes the larger index in two sequential streams.
    for (std::uint32_t at = 0; at <= mask_; ++at) {
      const std::uint64_t entry = entries_[at].load(std::memory_order_relaxed);
      if (entry == 0) continue;
      larger->Add(static_cast<std::uint32_t>(entry >> 32), static_cast<std::uint32_t>(entry));
    }
    return larger;
  }

 private:
  using Entry = std::atomic<std::uint64_t>;

  std::size_t Bytes() const { return sizeof(Index) + (std::size_t{mask_} + 1) * sizeof(Entry); }

  void Add(std::uint32_t hash, std::uint32_t number) {
    std::uint32_t at = hash;
    while (entries_[at & mask_].load(std::memory_order_relaxed) != 0) ++at;
    // Release pairs with the acquire in Find: the node is there.
    entries_[at & mask_].store((std::uint64_t{hash} << 32) | number, std::memory_order_release);
    ++used_;
  }

  std::uint32_t mask_;
  std::uint32_t used_;
  Index* retired_before_;
  Entry entries_[1];  // mask_ + 1 of them
};

bool StackTable::Start() {
  lock_.Reset();
  Index::FreeAll(retired_);
  retired_ = nullptr;
  Index* index = index_.load(std::memory_order_relaxed);
  if (index != nullptr) {
    index->Restart();
  } else {
    index = Index::Create(kFirstCapacity);
  }
  index_.store(index, std::memory_order_release);
  g_region.header().stack_node_count.store(kStackRootCount, std::memory_order_relaxed);
  return index != nullptr;
}

StackTable::Interned StackTable::Intern(std::uint32_t kept, StackTrail& trail) {
  Place place{kept != 0 ? trail.frames[kept - 1].node : static_cast<std::uint32_t>(trail.end), kept,
              0};
  Follow(trail, place);
  if (place.depth == trail.depth) return {place.id, false};

  const bool is_new = AddBranch(trail, place);
  if (place.depth != trail.depth) {
    trail.is_provable = false;  // its inner frames have no nodes to keep
    CountEnd(UnwindEnd::kTableFull);
  } else if (is_new) {
    CountEnd(trail.end);
  }
  return {place.id, is_new};
}

void StackTable::Follow(StackTrail& trail, Place& place) const {
  while (place.depth < trail.depth) {
    TrailFrame& frame = trail.frames[place.depth];
    const Found found = Find(place.id, frame);
    place.listed = found.listed;
    if (found.id == 0) return;
    place.id = frame.node = found.id;
    ++place.depth;
  }
}

inline StackTable::Found StackTable::Find(std::uint32_t parent, const TrailFrame& frame) const {
  std::uint32_t listed = 0;
  std::uint32_t at = std::atomic_ref(Node(parent).newest_child).load(std::memory_order_acquire);
  for (; at != 0; at = Node(at).older_sibling, ++listed) {
    if (IsAt(Node(at), frame)) return {at, listed};
  }
  if (listed < kMaxListed) return {0, listed};
  return {index_.load(std::memory_order_acquire)->Find(parent, frame), listed};
}

// A frame that is new has no callees, so all frames inward of it are new, too.
bool StackTable::AddBranch(StackTrail& trail, Place& place) {
  const SpinGuard guard(lock_);
  Follow(trail, place);  // another thread's nodes, made meanwhile
  std::atomic<std::uint32_t>& count = g_region.header().stack_node_count;
  const std::uint32_t first = count.load(std::memory_order_relaxed);
  const std::uint32_t wanted = trail.depth - place.depth;
  const std::uint32_t room = first < kMaxStackNodes ? kMaxStackNodes - first : 0;
  const std::uint32_t added = wanted < room ? wanted : room;
  if (added == 0 || !MakeRoomForNodes(first, added)) return false;

  std::uint32_t parent = place.id;
  for (std::uint32_t i = 0; i < added; ++i) {
    TrailFrame& frame = trail.frames[place.depth + i];
    frame.node = first + i;
    Node(first + i) = {.pc = frame.pc,
                       .parent = parent,
                       .module = frame.module,
                       .newest_child = i + 1 < added ? first + i + 1 : 0,
                       .older_sibling = 0};
    parent = first + i;
  }
  // A thread that finds the branch may report it to the runner, which must find it counted.
  count.store(first + added, std::memory_order_release);
  if (!AddChild(place, first)) {
    count.store(first, std::memory_order_relaxed);
    return false;
  }
  place.id = parent;
  place.depth += added;
  return true;
}

// Returns false if there is no memory.
bool StackTable::AddChild(const Place& parent, std::uint32_t number) {
  if (parent.listed >= kMaxListed) return AddToIndex(number);
  const std::atomic_ref newest_child(Node(parent.id).newest_child);
  Node(number).older_sibling = newest_child.load(std::memory_order_relaxed);
  // Release pairs with the acquire in Find: the node is there.
  newest_child.store(number, std::memory_order_release);
  return true;
}

bool StackTable::AddToIndex(std::uint32_t number) {
  Index* index = index_.load(std::memory_order_relaxed);
  if (index->IsFull()) {
    Index* const larger = index->Grown();
    if (larger == nullptr) return false;
    index_.store(larger, std::memory_order_release);
    index->RetireAfter(retired_);
    retired_ = index;
    index = larger;
  }
  index->Add(number);
  return true;
}

}  // namespace leakgate::agent
