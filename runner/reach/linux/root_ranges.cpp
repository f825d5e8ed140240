#include "runner/reach/linux/root_ranges.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <span>

#include "runner/arch/registers.h"
#include "runner/arch/thread_area.h"
#include "runner/base/page_size.h"
#include "runner/reach/linux/process_memory.h"

namespace leakgate {
namespace {

std::uint64_t PageUp(std::uint64_t address) {
  return (address + PageBytes() - 1) & ~(PageBytes() - 1);
}

std::string_view FileName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool IsLibc(const MappedModule& module) {
  return FileName(module.path).starts_with("libc.so") ||
         FileName(module.path).starts_with("libc-2");
}

std::vector<Elf64_Phdr> ReadProgramHeaders(std::uint64_t begin, const ProcessMemory& memory) {
  Elf64_Ehdr header{};
  if (memory.Read({begin, begin + sizeof(header)}, &header) != sizeof(header)) return {};
  const bool is_elf = std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
                      header.e_ident[EI_CLASS] == ELFCLASS64 &&
                      header.e_phentsize == sizeof(Elf64_Phdr) && header.e_phoff < PageBytes();
  if (!is_elf) return {};
  std::vector<Elf64_Phdr> headers(std::min<std::size_t>(header.e_phnum, 64));
  const std::uint64_t bytes = headers.size() * sizeof(Elf64_Phdr);
  const std::uint64_t at = begin + header.e_phoff;
  if (memory.Read({at, at + bytes}, headers.data()) != bytes) return {};
  return headers;
}

std::optional<MappedModule> ModuleAt(const MappedRange& first, const ProcessMemory& memory) {
  MappedModule module{.path = first.name, .begin = first.begin, .inode = first.inode};
  bool has_segment = false;
  for (const Elf64_Phdr& header : ReadProgramHeaders(first.begin, memory)) {
    if (header.p_type == PT_TLS) {
      module.thread_local_bytes = header.p_memsz;
      module.thread_local_alignment = std::max<std::uint64_t>(header.p_align, 1);
    }
    if (header.p_type != PT_LOAD) continue;
    if (!has_segment) module.bias = first.begin - (header.p_vaddr & ~(PageBytes() - 1));
    has_segment = true;
    const std::uint64_t begin = module.bias + header.p_vaddr;
    module.end = std::max(module.end, begin + header.p_memsz);
    module.segments.push_back({begin & ~(PageBytes() - 1), PageUp(begin + header.p_memsz)});
  }
  if (!has_segment || module.end <= module.begin) return std::nullopt;
  return module;
}

// A file that the program merely reads through a mapping has one range; a loaded one has several.
bool IsLoaded(const MappedModule& module, const std::vector<MappedRange>& maps) {
  return std::any_of(maps.begin(), maps.end(), [&](const MappedRange& range) {
    return range.inode == module.inode && range.begin > module.begin && range.begin < module.end;
  });
}

bool IsOurRegion(const MappedRange& range) { return range.name.starts_with("/memfd:leakgate"); }

// A file that lives in memory alone.
bool IsMemoryFile(const MappedRange& range) {
  return range.name.starts_with("/memfd:") || range.name.starts_with("/dev/shm/") ||
         range.name.starts_with("/dev/zero") || range.name.starts_with("/SYSV");
}

// Returns the first block at or after `address`.
std::vector<LiveBlock>::const_iterator FirstFrom(const std::vector<LiveBlock>& blocks,
                                                 std::uint64_t address) {
  return std::lower_bound(
      blocks.begin(), blocks.end(), address,
      [](const LiveBlock& block, std::uint64_t wanted) { return block.address < wanted; });
}

AddressRange RangeOf(const LiveBlock& block) {
  const std::uint64_t end = block.address + block.size_bytes;
  return {block.address, std::max(end, block.address)};
}

// A range of which more is known than that it is mapped.
struct Label {
  AddressRange range;
  RootKind kind;
  WordRule rule = WordRule::kNone;
  int tid = 0;
};

// Returns how much of a heap at `at` has ever been used; 0 if none of glibc's begins there.
std::uint64_t ArenaHeapBytesAt(std::uint64_t at, std::uint64_t heap_bytes,
                               const ProcessMemory& memory) {
  std::uint64_t record[4] = {};  // arena, heap before, size, size ever used
  if (memory.Read({at, at + sizeof(record)}, record) != sizeof(record)) return 0;
  const std::uint64_t offset = record[0] & (heap_bytes - 1);
  const bool is_heap = record[0] >= heap_bytes && offset >= 0x20 && offset <= 0x40 &&
                       record[2] <= heap_bytes && record[3] <= heap_bytes &&
                       record[2] <= record[3] && record[2] != 0;
  return is_heap ? record[3] : 0;
}

class RootFinder {
 public:
  explicit RootFinder(const RootSources& sources) : from_(sources) {}

  std::vector<RootRange> Find() {
    ExcludeAgent();
    ExcludeArenas();
    ExcludeDeadStacks();
    ExcludeEndedThreads();
    ExcludeBlocks();
    excluded_ = JoinRanges(std::move(excluded_));
    LabelModules();
    LabelThreads();
    for (const std::uint64_t page : from_.heap.pages) {
      heap_pages_.push_back({page, page + kHeapPageBytes});
    }
    heap_pages_ = JoinRanges(std::move(heap_pages_));
    for (const MappedRange& range : from_.maps) {
      if (MayHoldRoots(range)) AddRange(range);
    }
    AddStacksInBlocks();
    AddReallocatedBlocks();
    std::stable_sort(roots_.begin(), roots_.end(),
                     [](const RootRange& a, const RootRange& b) { return a.kind < b.kind; });
    return std::move(roots_);
  }

  // An old kernel takes a second for each TiB without pages, and programs reserve many.
  std::vector<RootRange> FindHidden() {
    constexpr std::uint64_t kMostWithHoles = 64ULL << 30;
    ExcludeAgent();
    ExcludeArenas();
    ExcludeBlocks();
    excluded_ = JoinRanges(std::move(excluded_));
    LabelModules();
    std::uint64_t bytes = 0;
    for (const MappedRange& range : from_.maps) {
      if (!MayHideRoots(range)) continue;
      bytes += range.end - range.begin;
      if (bytes > kMostWithHoles && !from_.memory.PassesOverHoles()) break;
      AddRange(range);
    }
    for (const MappedRange& range : from_.maps) {
      if (IsPrivateFile(range)) AddWrittenPages(range);
    }
    return std::move(roots_);
  }

 private:
  [[nodiscard]] bool MayHoldRoots(const MappedRange& range) const {
    if (!range.is_readable || !(range.is_writable || range.IsAnonymous())) return false;
    if (range.name == "[heap]") return from_.is_rest_of_heap_root;
    return !IsOurRegion(range) && !range.name.starts_with("[v");
  }

  // Pages that the program has written before it made them read-only.
  void AddWrittenPages(const MappedRange& range) {
    for (const PresentPart& part : from_.memory.PartsIn({range.begin, range.end})) {
      if (part.is_file) continue;
      for (const AddressRange& open : SubtractRanges(part.range, excluded_)) AddPart(open);
    }
  }

  [[nodiscard]] bool IsOfModule(const MappedRange& range) const {
    return std::any_of(from_.modules.begin(), from_.modules.end(),
                       [&](const MappedModule& module) { return module.Has(range.begin); });
  }
  [[nodiscard]] bool IsPrivateFile(const MappedRange& range) const {
    return range.is_readable && !range.is_writable && !range.is_shared && !range.IsAnonymous() &&
           !IsOurRegion(range) && !IsOfModule(range);
  }

  [[nodiscard]] bool MayHideRoots(const MappedRange& range) const {
    if (IsOurRegion(range) || range.is_writable) return false;
    // What the program made itself, such as code, and wrote by another view of it.
    if (range.is_readable && range.is_shared && IsMemoryFile(range)) return true;
    if (range.is_executable) return false;
    if (!range.is_readable) return range.name != "[heap]" && !range.name.starts_with("[v");
    return !range.IsAnonymous() && IsOfModule(range);
  }

  void Exclude(std::uint64_t begin, std::uint64_t end) { excluded_.push_back({begin, end}); }

  void ExcludeArenas() {
    if (from_.is_rest_of_heap_root) return;
    excluded_.insert(excluded_.end(), from_.arenas.begin(), from_.arenas.end());
  }

  void ExcludeAgent() {
    std::vector<AddressRange> kept;
    for (const KeptRange& range : from_.kept_ranges) kept.push_back({range.begin, range.end});
    kept = JoinRanges(std::move(kept));
    for (const MappedModule& module : from_.modules) {
      if (!IsAgentFile(module.path)) continue;
      for (const AddressRange& segment : module.segments) {
        for (const AddressRange& own : SubtractRanges(segment, kept)) excluded_.push_back(own);
      }
    }
    for (const OwnRange& range : from_.own_ranges) Exclude(range.begin, range.end);
  }

  bool HasOwnStack(const FrozenThread& thread, const MappedRange& range) const {
    return range.name == "[stack]" ||
           (range.IsAnonymous() && range.name != "[heap]" && range.Has(thread.thread_pointer));
  }

  // Words below a stack pointer are dead. If several stacks share a range, only what is below the
  // lowest of them is; in a stack that is not the thread's own (a coroutine's, a signal's),
  // nothing is.
  void ExcludeDeadStacks() {
    std::map<const MappedRange*, std::uint64_t> lowest;
    for (const FrozenThread& thread : from_.threads) {
      const MappedRange* const range = FindRange(from_.maps, thread.stack_pointer);
      if (range == nullptr) continue;
      const std::uint64_t live = thread.stack_pointer - kRedZoneBytes;
      const std::uint64_t from = HasOwnStack(thread, *range) ? live : range->begin;
      const auto [entry, is_new] = lowest.try_emplace(range, from);
      if (!is_new) entry->second = std::min(entry->second, from);
    }
    for (const auto& [range, end] : lowest) {
      // A stack may be in a block that is not known here.
      if (from_.is_rest_of_heap_root && range->name != "[stack]") continue;
      if (!IsInBlock(end)) Exclude(range->begin, end & ~std::uint64_t{7});
    }
  }

  bool IsInBlock(std::uint64_t address) const { return BlockAt(address) != nullptr; }

  const LiveBlock* BlockAt(std::uint64_t address) const {
    const auto after = FirstFrom(from_.heap.blocks, address + 1);
    if (after == from_.heap.blocks.begin()) return nullptr;
    const LiveBlock& block = *(after - 1);
    return address < RangeOf(block).end ? &block : nullptr;
  }

  bool IsOfLiveThread(AddressRange range) const {
    return std::any_of(from_.threads.begin(), from_.threads.end(), [&](const FrozenThread& thread) {
      return range.Has(thread.stack_pointer) || range.Has(thread.thread_pointer);
    });
  }

  // glibc keeps the stacks of ended threads for later ones. Such a stack is behind a guard, and
  // ends in the thread's descriptor (arch/thread_area.h).
  void ExcludeEndedThreads() {
    std::vector<std::uint64_t> threads;
    for (const FrozenThread& thread : from_.threads) threads.push_back(thread.thread_pointer);
    const std::vector<StackPlace> places = PlacesBehindGuards();
    std::vector<AddressRange> ranges;
    for (const StackPlace& place : places) ranges.push_back({place.begin, place.end});
    from_.memory.Load(ranges, ProcessMemory::Wanted::kAllPages);
    for (const StackPlace& place : places) {
      const std::uint64_t end = EndOfStackIn(place, threads);
      const AddressRange stack{place.begin, std::min(PageUp(end), place.end)};
      if (end != 0 && !IsOfLiveThread(stack)) excluded_.push_back(stack);
    }
  }

  std::vector<StackPlace> PlacesBehindGuards() const {
    std::vector<StackPlace> places;
    for (std::size_t i = 1; i < from_.maps.size(); ++i) {
      const MappedRange& range = from_.maps[i];
      const MappedRange& guard = from_.maps[i - 1];
      const bool may_be = range.IsAnonymous() && range.name.empty() && range.is_writable &&
                          guard.end == range.begin && guard.IsAnonymous() && !guard.is_readable;
      if (may_be) places.push_back({guard.begin, range.begin, range.end});
    }
    return places;
  }

  // Returns where the last stack ends that an ended thread had there; 0 if there is none.
  std::uint64_t EndOfStackIn(const StackPlace& place,
                             const std::vector<std::uint64_t>& threads) const {
    const auto read = [this](std::uint64_t address) -> std::optional<std::uint64_t> {
      std::uint64_t word = 0;
      const AddressRange range{address, address + sizeof(word)};
      if (from_.memory.Read(range, &word) != sizeof(word)) return std::nullopt;
      return word;
    };
    std::uint64_t end = 0;
    from_.memory.ForEachPart({place.begin, place.end}, [&](std::uint64_t address, Words words) {
      for (const std::uint64_t descriptor : FindDescriptors(address, words)) {
        end = EndOfKeptStack(descriptor, place, threads, read).value_or(end);
      }
    });
    return end;
  }

  // Live blocks are no roots. A block in memory without roots need not be excluded.
  void ExcludeBlocks() {
    std::vector<AddressRange> covered = excluded_;
    for (const MappedRange& range : from_.maps) {
      if (!MayHoldRoots(range)) covered.push_back({range.begin, range.end});
    }
    for (const AddressRange& open :
         SubtractRanges({0, 1ULL << kAddressBits}, JoinRanges(covered))) {
      auto block = FirstFrom(from_.heap.blocks, open.begin);
      for (; block != from_.heap.blocks.end() && block->address < open.end; ++block) {
        const AddressRange range = RangeOf(*block);
        Exclude(range.begin & ~std::uint64_t{7}, range.end);
      }
    }
  }

  void LabelModules() {
    for (const MappedModule& module : from_.modules) {
      const WordRule rule = IsLibc(module) ? WordRule::kNoChunkHeaders : WordRule::kNone;
      for (const AddressRange& segment : module.segments) {
        labels_.push_back({segment, RootKind::kGlobal, rule});
      }
    }
  }

  void LabelThreads() {
    for (const FrozenThread& thread : from_.threads) {
      AddressRange locals = ThreadLocalsOf(thread, from_.modules);
      const MappedRange* const around = FindRange(from_.maps, thread.thread_pointer);
      if (around != nullptr) locals.end = std::min(locals.end, around->end);
      labels_.push_back({locals, RootKind::kThreadLocal, WordRule::kNone, thread.tid});
      const std::uint64_t begin = (thread.stack_pointer - kRedZoneBytes) & ~std::uint64_t{7};
      const MappedRange* const range = FindRange(from_.maps, thread.stack_pointer);
      if (range == nullptr) continue;
      const bool is_in_front = locals.begin > begin && locals.begin < range->end;
      labels_.push_back({{begin, is_in_front ? locals.begin : range->end},
                         RootKind::kStack,
                         WordRule::kNone,
                         thread.tid});
    }
    std::stable_sort(labels_.begin(), labels_.end(),
                     [](const Label& a, const Label& b) { return a.range.begin < b.range.begin; });
  }

  void AddRange(const MappedRange& range) {
    for (const AddressRange& part : SubtractRanges({range.begin, range.end}, excluded_))
      AddPart(part);
  }

  // If labels overlap, the one that begins first counts. Parts mostly come in order, so the labels
  // in front of the last one are not passed over again.
  void AddPart(AddressRange part) {
    if (part.begin < last_part_) labels_passed_ = 0;
    last_part_ = part.begin;
    const auto is_passed = [&](const Label& label) { return label.range.end <= part.begin; };
    while (labels_passed_ < labels_.size() && is_passed(labels_[labels_passed_])) ++labels_passed_;
    for (const Label& label : std::span(labels_).subspan(labels_passed_)) {
      if (is_passed(label)) continue;
      if (label.range.begin >= part.end) break;
      const std::uint64_t begin = std::max(label.range.begin, part.begin);
      const std::uint64_t end = std::min(label.range.end, part.end);
      AddMapping({part.begin, begin});
      roots_.push_back({{begin, end}, label.kind, label.rule, label.tid});
      part.begin = end;
    }
    AddMapping(part);
  }

  void AddMapping(AddressRange part) {
    for (const AddressRange& left : SubtractRanges(part, heap_pages_)) roots_.push_back({left});
  }

  // Coroutines have their stacks in blocks, and so have threads that were given a stack.
  void AddStacksInBlocks() {
    for (const FrozenThread& thread : from_.threads) {
      const LiveBlock* const block = BlockAt(thread.stack_pointer);
      if (block == nullptr) continue;
      const std::uint64_t begin = (thread.stack_pointer - kRedZoneBytes) & ~std::uint64_t{7};
      const std::uint64_t end = RangeOf(*block).end & ~std::uint64_t{7};
      if (begin < end) {
        roots_.push_back({{begin, end}, RootKind::kStack, WordRule::kNone, thread.tid});
      }
    }
  }

  // A thread's realloc has a block in hand, whose words count wherever it is: in its old place, or
  // in a new one. The allocator may have freed the old place already, and only the thread's
  // registers and innermost frames know of the new one, which is no live block yet.
  void AddReallocatedBlocks() {
    for (const ReallocatedCopy& block : from_.reallocated) {
      AddReallocated({block.address, block.address + block.size_bytes}, block.tid);
      for (const FrozenThread& thread : from_.threads) {
        if (thread.tid == block.tid) AddNewPlaces(thread, block.size_bytes);
      }
    }
  }

  void AddNewPlaces(const FrozenThread& thread, std::uint64_t bytes) {
    constexpr std::uint64_t kInnermostFrames = 4096;
    const std::uint64_t sp = thread.stack_pointer & ~std::uint64_t{7};
    std::vector<std::uint64_t> words = thread.registers;
    from_.memory.ForEachPart({sp, sp + kInnermostFrames}, [&](std::uint64_t, Words stack) {
      words.insert(words.end(), stack.begin(), stack.end());
    });
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    for (const std::uint64_t word : words) {
      if (MayBeNewBlock(word, thread))
        AddReallocated({word, EndOfNewBlock(word, bytes)}, thread.tid);
    }
  }

  bool MayBeNewBlock(std::uint64_t word, const FrozenThread& thread) const {
    if (word % 16 != 0 || IsInBlock(word)) return false;
    const MappedRange* const range = FindRange(from_.maps, word);
    return range != nullptr && range->is_writable && !range->Has(thread.stack_pointer);
  }

  std::uint64_t EndOfNewBlock(std::uint64_t begin, std::uint64_t bytes) const {
    const auto next = FirstFrom(from_.heap.blocks, begin);
    const std::uint64_t end = begin + bytes;
    return next == from_.heap.blocks.end() ? end : std::min(end, next->address);
  }

  void AddReallocated(AddressRange range, int tid) {
    range.end &= ~std::uint64_t{7};
    if (range.begin < range.end) {
      roots_.push_back({range, RootKind::kStack, WordRule::kNone, tid});
    }
  }

  const RootSources& from_;
  std::vector<AddressRange> excluded_;
  std::vector<AddressRange> heap_pages_;
  std::vector<Label> labels_;
  std::size_t labels_passed_ = 0;  // they end in front of last_part_
  std::uint64_t last_part_ = 0;
  std::vector<RootRange> roots_;
};

}  // namespace

bool MappedModule::Has(std::uint64_t address) const {
  return std::any_of(segments.begin(), segments.end(),
                     [address](const AddressRange& segment) { return segment.Has(address); });
}

std::vector<MappedModule> FindModules(const std::vector<MappedRange>& maps, ProcessMemory& memory) {
  const auto may_be_module = [](const MappedRange& range) {
    return !range.IsAnonymous() && range.is_readable && range.file_offset == 0;
  };
  std::vector<AddressRange> first_pages;
  for (const MappedRange& range : maps) {
    if (may_be_module(range)) first_pages.push_back({range.begin, range.begin + PageBytes()});
  }
  memory.Load(first_pages, ProcessMemory::Wanted::kAllPages);
  std::vector<MappedModule> modules;
  for (const MappedRange& range : maps) {
    if (!may_be_module(range)) continue;
    std::optional<MappedModule> module = ModuleAt(range, memory);
    if (module && IsLoaded(*module, maps)) modules.push_back(*std::move(module));
  }
  return modules;
}

AddressRange ThreadLocalsOf(const FrozenThread& thread, const std::vector<MappedModule>& modules) {
  std::uint64_t bytes = 0;
  for (const MappedModule& module : modules) {
    if (module.thread_local_bytes == 0) continue;
    bytes += module.thread_local_bytes + module.thread_local_alignment;
  }
  const ThreadArea area = ThreadAreaAt(thread.thread_pointer, bytes);
  return {area.begin, PageUp(area.end)};
}

std::vector<RootRange> FindRoots(const RootSources& sources) { return RootFinder(sources).Find(); }

std::vector<RootRange> FindHiddenRoots(const RootSources& sources) {
  return RootFinder(sources).FindHidden();
}

// Each begins at a multiple of 64 MiB, with a pointer to its arena, which is behind the first
// heap's own record, and with its size. Only those pages are asked for, unless they are many.
std::vector<AddressRange> FindArenaHeaps(const std::vector<MappedRange>& maps,
                                         const ProcessMemory& memory) {
  constexpr std::uint64_t kHeapBytes = 64ULL << 20;
  constexpr std::uint64_t kMany = 1024;
  std::vector<AddressRange> heaps;
  for (const MappedRange& range : maps) {
    const std::uint64_t first = (range.begin + kHeapBytes - 1) & ~(kHeapBytes - 1);
    if (!range.IsAnonymous() || !range.is_writable || first >= range.end) continue;
    const auto find_in = [&](AddressRange part) {
      std::uint64_t at = (part.begin + kHeapBytes - 1) & ~(kHeapBytes - 1);
      for (; at < part.end; at += kHeapBytes) {
        const std::uint64_t bytes = ArenaHeapBytesAt(at, kHeapBytes, memory);
        if (bytes != 0) heaps.push_back({at, std::min(at + bytes, range.end)});
      }
    };
    if ((range.end - first) / kHeapBytes >= kMany) {
      memory.ForEachPresent({first, range.end}, find_in);
      continue;
    }
    for (std::uint64_t at = first; at < range.end; at += kHeapBytes) {
      memory.ForEachPresent({at, at + PageBytes()}, find_in);
    }
  }
  return heaps;
}

}  // namespace leakgate
