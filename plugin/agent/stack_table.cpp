#include "plugin/agent/stack_table.h"

#include "plugin/agent/linux/syscall.h"

namespace leakgate::agent {

constinit StackTable g_stacks;

// Open addressing; an entry is a node's number, 0 if empty. An index that has
// been replaced stays mapped: another thread may still be reading it.
struct StackTable::Index {
  using Entry = std::atomic<std::uint32_t>;

  std::uint32_t mask;

  // The entries follow the header.
  Entry& At(std::uint64_t index) { return reinterpret_cast<Entry*>(this + 1)[index & mask]; }
  const Entry& At(std::uint64_t index) const {
    return reinterpret_cast<const Entry*>(this + 1)[index & mask];
  }

  static Index* Create(std::uint32_t capacity) {
    const std::size_t bytes = sizeof(Index) + std::size_t{capacity} * sizeof(std::uint32_t);
    auto* const index = static_cast<Index*>(MapPrivate(bytes));
    if (index != nullptr) index->mask = capacity - 1;
    return index;
  }

  static std::uint64_t Hash(std::uint64_t pc, std::uint32_t parent, std::uint32_t module) {
    // Fibonacci hashing (Knuth, TAOCP 6.4): its good bits are the high ones, so
    // they are folded down, and the parent's first, or siblings would cluster.
    std::uint64_t key = pc ^ (std::uint64_t{parent} << 32) ^ (std::uint64_t{module} << 16);
    key = (key ^ (key >> 32)) * 0x9E37'79B9'7F4A'7C15ULL;
    return key ^ (key >> 32);
  }

  void Add(const StackNode& node, std::uint32_t number) {
    std::uint64_t at = Hash(node.pc, node.parent, node.module);
    while (At(at).load(std::memory_order_relaxed) != 0) ++at;
    // Release pairs with the acquire in FindChild.
    At(at).store(number, std::memory_order_release);
  }
};

namespace {

constexpr std::uint32_t kFirstCapacity = 1U << 13;

}  // namespace

bool StackTable::Start() {
  Index* const index = Index::Create(kFirstCapacity);
  index_.store(index, std::memory_order_release);
  g_region.header().stack_node_count.store(kStackRootCount, std::memory_order_relaxed);
  return index != nullptr;
}

std::uint32_t StackTable::Intern(std::uint32_t kept, StackTrail& trail) {
  std::uint32_t node =
      kept != 0 ? trail.frames[kept - 1].node : static_cast<std::uint32_t>(trail.end);
  bool is_new = false;
  for (std::uint32_t i = kept; i < trail.depth; ++i) {
    TrailFrame& frame = trail.frames[i];
    const std::uint32_t child = Child(node, frame, is_new);
    if (child == 0) {
      trail.is_provable = false;  // its inner frames have no nodes to keep
      return node;
    }
    node = frame.node = child;
  }
  if (is_new) {
    g_region.header().stack_ends[static_cast<std::uint32_t>(trail.end)].fetch_add(
        1, std::memory_order_relaxed);
  }
  return node;
}

std::uint32_t StackTable::Child(std::uint32_t parent, const TrailFrame& frame, bool& is_new) {
  const Index& index = *index_.load(std::memory_order_acquire);
  const std::uint32_t found = FindChild(index, parent, frame);
  return found != 0 ? found : AddChild(parent, frame, is_new);
}

std::uint32_t StackTable::FindChild(const Index& index, std::uint32_t parent,
                                    const TrailFrame& frame) const {
  const StackNode* const nodes = g_region.stacks();
  for (std::uint64_t at = Index::Hash(frame.pc, parent, frame.module);; ++at) {
    const std::uint32_t number = index.At(at).load(std::memory_order_acquire);
    if (number == 0) return 0;
    const StackNode& node = nodes[number];
    if (node.pc == frame.pc && node.parent == parent && node.module == frame.module) return number;
  }
}

std::uint32_t StackTable::AddChild(std::uint32_t parent, const TrailFrame& frame, bool& is_new) {
  const SpinGuard guard(lock_);
  const std::uint32_t found = FindChild(*index_.load(std::memory_order_relaxed), parent, frame);
  if (found != 0) return found;

  std::atomic<std::uint32_t>& count = g_region.header().stack_node_count;
  const std::uint32_t number = count.load(std::memory_order_relaxed);
  const bool is_half_full = number > index_.load(std::memory_order_relaxed)->mask / 2;
  if (number >= kMaxStackNodes || (is_half_full && !Grow())) {
    g_region.header().stack_ends[static_cast<std::uint32_t>(UnwindEnd::kTableFull)].fetch_add(
        1, std::memory_order_relaxed);
    return 0;
  }
  StackNode& node = g_region.stacks()[number];
  node = {frame.pc, parent, frame.module};
  count.store(number + 1, std::memory_order_release);
  index_.load(std::memory_order_relaxed)->Add(node, number);
  is_new = true;
  return number;
}

bool StackTable::Grow() {
  const std::uint32_t capacity = (index_.load(std::memory_order_relaxed)->mask + 1) * 2;
  Index* const larger = Index::Create(capacity);
  if (larger == nullptr) return false;

  const std::uint32_t count = g_region.header().stack_node_count.load(std::memory_order_relaxed);
  for (std::uint32_t number = kStackRootCount; number < count; ++number) {
    larger->Add(g_region.stacks()[number], number);
  }
  index_.store(larger, std::memory_order_release);
  return true;
}

}  // namespace leakgate::agent
