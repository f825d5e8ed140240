#include "runner/reach/nt/root_ranges.h"

#include <algorithm>
#include <iterator>

#include "runner/base/nt/win32.h"

namespace leakgate {
namespace {

class RootFinder {
 public:
  explicit RootFinder(const RootSources& from) : from_(from) {
    FindHeaps();
    for (const OwnRange& own : from.own_ranges) own_.push_back({own.begin, own.end});
    AddAgentsModule();
    own_ = JoinRanges(std::move(own_));
    for (const StoppedThread& thread : from.threads) {
      const MemoryRange* const stack = RangeAt(thread.stack_pointer);
      if (stack != nullptr) stacks_.push_back(stack->allocation);
    }
    if (!WineVersion().empty()) AddStacksOfWine();
  }

  [[nodiscard]] std::vector<RootRange> Find() {
    for (const MemoryRange& memory : from_.memory) {
      if (!memory.is_writable || IsHeap(memory) || IsStack(memory)) continue;
      Add(memory.range, memory.kind == MemoryKind::kImage ? RootKind::kGlobal : RootKind::kMapping);
    }
    for (const KeptRange& declared : from_.declared) {
      for (const MemoryRange& memory : from_.memory) {
        const AddressRange part{std::max(declared.begin, memory.range.begin),
                                std::min(declared.end, memory.range.end)};
        if (memory.is_readable && part.begin < part.end) {
          roots_.push_back({part, RootKind::kGlobal});
        }
      }
    }
    for (const KeptRange& kept : from_.kept_ranges) {
      if (kept.begin < kept.end) roots_.push_back({{kept.begin, kept.end}, RootKind::kMapping});
    }
    for (const StoppedThread& thread : from_.threads) AddStack(thread);
    return Sorted();
  }

  [[nodiscard]] std::vector<RootRange> FindHidden() {
    for (const MemoryRange& memory : from_.memory) {
      if (!memory.is_readable || IsStack(memory)) continue;
      if (IsHeap(memory)) {
        AddUnseenOf(memory);
      } else if (memory.kind == MemoryKind::kImage) {
        AddReadOnlyData(memory);
      } else if (!memory.is_writable && !memory.is_system_file) {
        Add(memory.range, RootKind::kMapping);
      }
    }
    return Sorted();
  }

  // The system guards the ends of stacks, and takes the guard away by itself. Wine has pages
  // without access before that, also on stacks of fibers. Heaps guard their own pages.
  [[nodiscard]] bool HasMemoryWithoutAccess() const {
    return std::any_of(from_.memory.begin(), from_.memory.end(), [this](const MemoryRange& memory) {
      return !memory.is_readable && !memory.is_guard && memory.kind == MemoryKind::kPrivate &&
             !IsBeforeGuard(memory) && !IsStack(memory) && !IsHeap(memory) &&
             !SubtractRanges(memory.range, own_).empty();
    });
  }

 private:
  [[nodiscard]] const MemoryRange* RangeAt(std::uint64_t address) const {
    const auto next = std::upper_bound(from_.memory.begin(), from_.memory.end(), address,
                                       [](std::uint64_t wanted, const MemoryRange& memory) {
                                         return wanted < memory.range.begin;
                                       });
    if (next == from_.memory.begin() || !std::prev(next)->range.Has(address)) return nullptr;
    return &*std::prev(next);
  }

  [[nodiscard]] bool IsBeforeGuard(const MemoryRange& memory) const {
    const MemoryRange* const next = RangeAt(memory.range.end);
    return memory.range.begin == memory.allocation && next != nullptr && next->is_guard &&
           next->allocation == memory.allocation;
  }

  // An allocation in which a block lies, or has lain, is a heap's. A pool's block may be anywhere.
  void FindHeaps() {
    auto page = from_.heap.pages.begin();
    auto block = from_.heap.blocks.begin();
    for (const MemoryRange& memory : from_.memory) {
      while (page != from_.heap.pages.end() && *page < memory.range.begin) ++page;
      while (block != from_.heap.blocks.end() &&
             (block->address < memory.range.begin || block->pool != 0)) {
        ++block;
      }
      const bool has_page = page != from_.heap.pages.end() && *page < memory.range.end;
      const bool has_block = block != from_.heap.blocks.end() && block->address < memory.range.end;
      if (memory.kind == MemoryKind::kPrivate && (has_page || has_block)) {
        heaps_.push_back(memory.allocation);
      }
    }
    heaps_.erase(std::unique(heaps_.begin(), heaps_.end()), heaps_.end());
  }

  void AddAgentsModule() {
    for (const ImageModule& module : from_.modules) {
      if (IsAgentFile(module.path)) own_.push_back(module.range);
    }
  }

  // Above a thread's stack, Wine puts the one on which its side of system calls runs. It is the
  // kernel's on Windows, and no part of the process. What old registers left there holds nothing.
  // Memory of another size is the program's: it may run on a stack of its own.
  void AddStacksOfWine() {
    constexpr std::uint64_t kBytes = 1U << 20;
    for (const StoppedThread& thread : from_.threads) {
      const MemoryRange* const above = RangeAt(thread.stack_base);
      if (above != nullptr && above->allocation == thread.stack_base &&
          above->kind == MemoryKind::kPrivate && above->range.end - above->range.begin == kBytes) {
        stacks_.push_back(above->allocation);
      }
    }
  }

  [[nodiscard]] bool IsHeap(const MemoryRange& memory) const {
    return std::binary_search(heaps_.begin(), heaps_.end(), memory.allocation);
  }
  [[nodiscard]] bool IsStack(const MemoryRange& memory) const {
    return std::find(stacks_.begin(), stacks_.end(), memory.allocation) != stacks_.end();
  }

  void Add(AddressRange range, RootKind kind) {
    for (const AddressRange& part : SubtractRanges(range, own_)) roots_.push_back({part, kind});
  }

  // Of a module, only what it has written before it made it read-only may have pointers.
  void AddReadOnlyData(const MemoryRange& memory) {
    if (memory.is_writable) return;
    for (const ImageModule& module : from_.modules) {
      if (module.range.begin != memory.allocation) continue;
      for (const AddressRange& data : module.data) {
        const AddressRange part{std::max(data.begin, memory.range.begin),
                                std::min(data.end, memory.range.end)};
        if (part.begin < part.end) Add(part, RootKind::kGlobal);
      }
    }
  }

  void AddUnseenOf(const MemoryRange& memory) {
    if (from_.walked == nullptr || !from_.walked->Has(memory.allocation)) {
      return AddBetweenBlocks(memory.range);
    }
    for (const AddressRange& unseen : from_.walked->unseen) {
      const AddressRange part{std::max(unseen.begin, memory.range.begin),
                              std::min(unseen.end, memory.range.end)};
      if (part.begin < part.end) AddBetweenBlocks(part);
    }
  }

  // In front of each block, the heap has 16 bytes of its own, and a block takes 32 at least, with
  // these. So there is no other one between two that are nearer to each other.
  static constexpr std::uint64_t kLeastBytesWithBlock = 48;
  void AddBetweenBlocks(AddressRange range) {
    const auto begin = std::lower_bound(from_.heap.blocks.begin(), from_.heap.blocks.end(),
                                        range.begin, [](const LiveBlock& block, std::uint64_t at) {
                                          return block.address + block.size_bytes <= at;
                                        });
    std::uint64_t at = range.begin;
    for (auto block = begin; block != from_.heap.blocks.end() && block->address < range.end;
         ++block) {
      if (at + kLeastBytesWithBlock <= block->address) {
        Add({at, block->address}, RootKind::kHeap);
      }
      at = std::max(at, (block->address + block->size_bytes + 7) & ~std::uint64_t{7});
    }
    if (at < range.end) Add({at, range.end}, RootKind::kHeap);
  }

  // From the stack pointer on, up to the end of what is committed there.
  void AddStack(const StoppedThread& thread) {
    const MemoryRange* memory = RangeAt(thread.stack_pointer);
    if (memory == nullptr) return;
    std::uint64_t end = memory->range.end;
    for (++memory;
         memory != from_.memory.data() + from_.memory.size() && memory->range.begin == end &&
         memory->allocation == std::prev(memory)->allocation;
         ++memory) {
      end = memory->range.end;
    }
    const std::uint64_t begin = thread.stack_pointer & ~std::uint64_t{7};
    roots_.push_back({{begin, end}, RootKind::kStack, thread.tid});
  }

  [[nodiscard]] std::vector<RootRange> Sorted() {
    std::stable_sort(roots_.begin(), roots_.end(),
                     [](const RootRange& a, const RootRange& b) { return a.kind < b.kind; });
    return std::move(roots_);
  }

  const RootSources& from_;
  std::vector<std::uint64_t> heaps_;   // allocations, sorted
  std::vector<std::uint64_t> stacks_;  // allocations
  std::vector<AddressRange> own_;
  std::vector<RootRange> roots_;
};

}  // namespace

std::vector<RootRange> FindRoots(const RootSources& sources) { return RootFinder(sources).Find(); }

std::vector<RootRange> FindHiddenRoots(const RootSources& sources) {
  return RootFinder(sources).FindHidden();
}

bool HasMemoryWithoutAccess(const RootSources& sources) {
  return RootFinder(sources).HasMemoryWithoutAccess();
}

}  // namespace leakgate
