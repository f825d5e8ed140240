#include "runner/reach/look.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "runner/arch/registers.h"
#include "runner/reach/candidates.h"
#include "runner/reach/glibc_chunk.h"
#include "runner/reach/holders.h"
#include "runner/reach/linux/file_words.h"
#include "runner/reach/linux/frozen_process.h"
#include "runner/reach/linux/kernel_queues.h"
#include "runner/reach/linux/kernel_words.h"
#include "runner/reach/linux/process_memory.h"
#include "runner/reach/linux/root_namer.h"
#include "runner/reach/linux/root_ranges.h"
#include "runner/reach/linux/signal_stacks.h"
#include "runner/reach/unseen_heap.h"

namespace leakgate {
namespace {

// The asking thread waits in a system call of the agent. Unlike other threads, it uses nothing
// below its stack pointer, where words of the test's ended frames are.
std::vector<FrozenThread> SkipRedZoneOf(int asking_tid, std::vector<FrozenThread> threads) {
  for (FrozenThread& thread : threads) {
    if (thread.tid == asking_tid) thread.stack_pointer += kRedZoneBytes;
  }
  return threads;
}

// Fails if a look would take minutes, in which the program stands still: it may have reserved all
// of the address space, and an old kernel tells of each page there.
Expected<void> RequireShortLook(int pid, const std::vector<MappedRange>& maps,
                                const ProcessMemory& memory) {
  constexpr std::uint64_t kMostWithHoles = 4ULL << 40;
  if (memory.PassesOverHoles()) return {};
  std::uint64_t bytes = 0;
  for (const MappedRange& range : maps) {
    if (range.is_readable) bytes += range.end - range.begin;
  }
  if (bytes <= kMostWithHoles) return {};
  return InconclusiveError(fmt::format(
      "PID {} has mapped {} GiB that may be read, too much to look at; map them without "
      "access (PROT_NONE) until they are used, or run on Linux 6.7 or later",
      pid, bytes >> 30));
}

// What is known of the process while it is stopped.
struct StoppedProcess {
  HeapCopy heap;  // with the pieces of its chunks among the blocks
  DividedChunks divided;
  std::vector<LiveBlock> undivided;  // the allocator's own blocks; empty if no block is divided
  std::vector<MappedRange> maps;
  std::vector<MappedModule> modules;
  std::vector<FrozenThread> threads;
  std::vector<OwnRange> own_ranges;
  std::vector<KeptRange> kept_ranges;
  std::vector<ReallocatedCopy> reallocated;
  std::vector<AddressRange> arenas;       // glibc's heaps for threads other than the main one
  std::vector<AddressRange> idle_stacks;  // for signals; their words read as zero
  std::vector<RootRange> roots{};         // sorted by kind
  std::vector<RootRange> more_roots{};    // of the slow look
  std::vector<KernelObject> objects{};    // of the slow look
};

const std::vector<LiveBlock>& AllocatorsBlocks(const StoppedProcess& process) {
  return process.divided.size() == 0 ? process.heap.blocks : process.undivided;
}

// The tops of the addresses that words may have which lead to blocks that are not marked, odd
// words included. Empty if there are many.
AddressTops TopsOfUnmarked(const std::vector<LiveBlock>& blocks, const ReachMarker& marker) {
  constexpr std::uint64_t kFarthest = 16;  // a pointer leads at most so far past a block, or before
  constexpr std::uint64_t kMost = 16;
  constexpr std::uint64_t kLastTop = 0xFFFF;
  AddressTops tops;
  for (std::uint32_t i = 0; i < blocks.size(); ++i) {
    if (marker.IsMarked(i)) continue;
    const std::uint64_t begin = blocks[i].address;
    const std::uint64_t first = (begin - std::min(begin, kFarthest)) >> 32;
    const std::uint64_t last = (begin + blocks[i].size_bytes + kFarthest) >> 32;
    if (last < first || last > kLastTop || last - first > kMost) return {};
    for (std::uint64_t top = first; top <= last; ++top) {
      if (tops.empty() || tops.back() < top) tops.push_back(static_cast<std::uint16_t>(top));
    }
    if (tops.size() > kMost) return {};
  }
  return tops;
}

// Reads roots. Of files' pages, only words that may lead to blocks which are not marked yet, if
// these words are known.
class RootReader {
 public:
  explicit RootReader(ProcessMemory& memory) : memory_(memory) {}
  RootReader(ProcessMemory& memory, FileWords& file_words, AddressTops tops)
      : memory_(memory), file_words_(&file_words), tops_(std::move(tops)) {}

  // Reads those that are read as a whole at once, so that ForEach need not ask for each.
  void Load(std::span<const RootRange> roots) const {
    std::vector<AddressRange> ranges;
    for (const RootRange& root : roots) ranges.push_back(root.range);
    memory_.Load(ranges, file_words_ == nullptr ? ProcessMemory::Wanted::kAllPages
                                                : ProcessMemory::Wanted::kAllButFiles);
  }

  void ForEach(const RootRange& root, const UseRoots& use) const {
    if (file_words_ == nullptr) return ForEachIn(root.range, root, use);
    for (const PresentPart& part : memory_.PartsIn(root.range)) {
      const std::vector<MappedWord>* const known =
          part.is_file ? file_words_->In(part.range, tops_, memory_) : nullptr;
      if (known == nullptr) {
        ForEachIn(part.range, root, use);
        continue;
      }
      for (const MappedWord& word : *known) {
        use({Words(&word.word, 1), {word.address, root.tid}, root.rule, word.next});
      }
    }
  }

 private:
  void ForEachIn(AddressRange range, const RootRange& root, const UseRoots& use) const {
    memory_.ForEachPart(range, [&](std::uint64_t address, Words words) {
      use({words, {address, root.tid}, root.rule});
    });
  }

  ProcessMemory& memory_;
  FileWords* file_words_ = nullptr;
  AddressTops tops_;
};

// Marks from one kind of roots after the other, so that a holder is of the kind that says most.
void MarkFrom(std::span<const RootRange> roots, const RootReader& reader, ReachMarker& marker) {
  while (!roots.empty() && !marker.HasMarkedAllCandidates()) {
    const auto is_other = [&](const RootRange& root) { return root.kind != roots.front().kind; };
    const auto end = std::find_if(roots.begin(), roots.end(), is_other);
    const auto count = static_cast<std::size_t>(end - roots.begin());
    reader.Load(roots.first(count));
    for (const RootRange& root : roots.first(count)) {
      reader.ForEach(root, [&](const RootWords& words) {
        marker.AddRoots(words.words, words.place, words.rule);
      });
      if (marker.HasMarkedAllCandidates()) return;
    }
    marker.Mark();
    roots = roots.subspan(count);
  }
}

// How many roots are no stacks. Those come first.
std::size_t CountVariables(const std::vector<RootRange>& roots) {
  return static_cast<std::size_t>(std::count_if(
      roots.begin(), roots.end(), [](const RootRange& it) { return it.kind != RootKind::kStack; }));
}

void MarkFromVariables(const StoppedProcess& process, ProcessMemory& memory, ReachMarker& marker) {
  const std::span<const RootRange> roots = process.roots;
  MarkFrom(roots.first(CountVariables(process.roots)), RootReader(memory), marker);
}

void MarkFromThreads(const StoppedProcess& process, ProcessMemory& memory, ReachMarker& marker) {
  const std::span<const RootRange> roots = process.roots;
  MarkFrom(roots.subspan(CountVariables(process.roots)), RootReader(memory), marker);
  for (const FrozenThread& thread : process.threads) {
    marker.AddRoots(thread.registers, {0, thread.tid});
  }
  marker.Mark();
}

// Most of these roots are files.
void MarkFromMoreRoots(const StoppedProcess& process, const RootReader& reader,
                       ReachMarker& marker) {
  MarkFrom(process.more_roots, reader, marker);
  for (std::uint32_t i = 0; i < process.objects.size(); ++i) {
    marker.AddRoots(process.objects[i].words, {.kernel_object = i + 1});
  }
  marker.Mark();
}

// Pages of shared files need not be in the process's memory to be in the file: another view of it
// may have written them. To read them brings them there, so only so many are.
void MarkFromAbsentPages(const StoppedProcess& process, ProcessMemory& memory,
                         ReachMarker& marker) {
  std::uint64_t left = 16ULL << 20;
  for (const MappedRange& range : process.maps) {
    const bool is_device = range.name.starts_with("/dev/") &&
                           !range.name.starts_with("/dev/shm/") &&
                           !range.name.starts_with("/dev/zero");
    const bool is_wanted = range.is_shared && range.is_readable && !range.IsAnonymous() &&
                           !is_device && !range.name.starts_with("/memfd:leakgate");
    if (!is_wanted) continue;
    std::vector<AddressRange> present;
    for (const PresentPart& part : memory.PartsIn({range.begin, range.end})) {
      present.push_back(part.range);
    }
    for (const AddressRange& absent :
         SubtractRanges({range.begin, range.end}, JoinRanges(std::move(present)))) {
      const std::uint64_t bytes = std::min(absent.end - absent.begin, left);
      left -= bytes;
      std::vector<std::uint64_t> words(bytes / sizeof(std::uint64_t));
      const std::uint64_t got =
          memory.Read({absent.begin, absent.begin + bytes}, words.data()) / sizeof(std::uint64_t);
      marker.AddRoots(Words(words).first(got), {absent.begin, 0});
    }
  }
  marker.Mark();
}

// Calls `use` with the words of all roots, until it returns false: the rest of a range it is still
// given.
template <typename Use>
void ForEachRoot(const StoppedProcess& process, ProcessMemory& memory, const RootReader& reader,
                 const Use& use) {
  const RootReader plain(memory);
  bool goes_on = true;
  const UseRoots use_words = [&](const RootWords& words) { goes_on = use(words); };
  for (const RootRange& root : process.roots) {
    if (goes_on) plain.ForEach(root, use_words);
  }
  for (const RootRange& root : process.more_roots) {
    if (goes_on) reader.ForEach(root, use_words);
  }
  // Each register is a word of its own.
  for (const FrozenThread& thread : process.threads) {
    for (const std::uint64_t& word : thread.registers) {
      use_words({Words(&word, 1), {0, thread.tid}});
    }
  }
  for (std::uint32_t i = 0; i < process.objects.size(); ++i) {
    for (const std::uint64_t& word : process.objects[i].words) {
      use_words({Words(&word, 1), {.kernel_object = i + 1}});
    }
  }
}

void MarkFromOddWords(const StoppedProcess& process, ProcessMemory& memory,
                      const RootReader& reader, ReachMarker& marker) {
  marker.MarkOddly([&](const UseRoots& use) {
    ForEachRoot(process, memory, reader, [&](const RootWords& words) {
      use(words);
      return true;
    });
  });
}

// Marks by plain words and by odd ones, and reads no further root once a block is marked. Passes
// over plain words at addresses for which `is_passed` returns true.
template <typename IsPassed>
void MarkFromAnyWord(const StoppedProcess& process, ProcessMemory& memory, const RootReader& reader,
                     const IsPassed& is_passed, ReachMarker& marker) {
  std::vector<std::uint64_t> left;
  marker.MarkOddly([&](const UseRoots& use) {
    ForEachRoot(process, memory, reader, [&](RootWords root) {
      if (root.place.address != 0 && marker.LeadsToUnmarked(root.words)) {
        left.assign(root.words.begin(), root.words.end());
        for (std::size_t i = 0; i < left.size(); ++i) {
          if (marker.BlockOf(left[i]) == BlockIndex::kNone) continue;
          if (is_passed(root.place.address + i * sizeof(std::uint64_t))) left[i] = 0;
        }
        root.words = left;
      }
      marker.AddRoots(root.words, root.place, root.rule);
      use(root);
      return !marker.HasMarkedAny();
    });
  });
}

// What glibc's malloc keeps for itself: in the C library's data, in thread-locals, and at the begin
// of an arena.
std::vector<std::uint64_t> AllocatorWords(const StoppedProcess& process,
                                          const ProcessMemory& memory) {
  std::vector<std::uint64_t> found;
  const auto add = [&](std::uint64_t, Words words) {
    std::copy_if(words.begin(), words.end(), std::back_inserter(found),
                 [](std::uint64_t word) { return word != 0; });
  };
  for (const RootRange& root : process.roots) {
    const bool is_allocators =
        root.rule == WordRule::kNoChunkHeaders || root.kind == RootKind::kThreadLocal;
    if (is_allocators) memory.ForEachPart(root.range, add);
  }
  constexpr std::uint64_t kArenaBytes = 4096;  // glibc's record is smaller
  for (const AddressRange& arena : process.arenas) {
    memory.ForEachPart({arena.begin, std::min(arena.begin + kArenaBytes, arena.end)}, add);
  }
  return found;
}

// The words that tell the sizes of known blocks' chunks. Where the blocks are large, most of what
// is between those words need not be read. Nor are the words of blocks that an earlier look has
// found lost, and seen in chunks of glibc's, if the blocks around them leave no doubt.
class ChunkSizes {
 public:
  ChunkSizes(const std::vector<LiveBlock>& blocks, const std::vector<bool>& is_known_lost,
             const std::vector<GlibcHeap>& heaps, ReadWords read_in_order, ProcessMemory& memory)
      : read_in_order_(std::move(read_in_order)) {
    std::vector<std::uint64_t> unknown;  // addresses of words to be read
    constexpr std::uint64_t kLargeOnAverage = 1024;
    for (const GlibcHeap& heap : heaps) {
      const std::size_t first = addresses_.size();
      const auto is_before = [](const LiveBlock& block, std::uint64_t address) {
        return block.address < address;
      };
      const std::size_t first_unknown = unknown.size();
      const auto begin = std::lower_bound(blocks.begin(), blocks.end(), heap.begin, is_before);
      for (auto block = begin; block != blocks.end() && block->address < heap.end; ++block) {
        const std::uint64_t address = block->address - sizeof(std::uint64_t);
        const bool has_neighbours = block != begin && block + 1 != blocks.end();
        const bool is_certain = has_neighbours &&
                                is_known_lost[static_cast<std::size_t>(block - blocks.begin())] &&
                                HasNoGapsAround(*(block - 1), *block, *(block + 1));
        addresses_.push_back(address);
        words_.push_back(is_certain ? ChunkBytes(block->size_bytes) | kPreviousInUse : kUnknown);
        if (!is_certain) unknown.push_back(address);
      }
      const std::size_t count = addresses_.size() - first;
      if (count == 0) continue;
      const std::uint64_t extent = addresses_.back() - addresses_[first];
      if (extent / count >= kLargeOnAverage) continue;
      addresses_.resize(first);
      words_.resize(first);
      unknown.resize(first_unknown);
    }
    const std::vector<std::uint64_t> read = memory.ReadEach(unknown);
    auto next = read.begin();
    for (std::uint64_t& word : words_) {
      if (word == kUnknown) word = *next++;
    }
  }

  std::uint64_t WordAt(std::uint64_t address) const {
    const auto found = std::lower_bound(addresses_.begin(), addresses_.end(), address);
    if (found != addresses_.end() && *found == address) {
      return words_[static_cast<std::size_t>(found - addresses_.begin())];
    }
    return read_in_order_(address, address + sizeof(std::uint64_t)).front();
  }

 private:
  static constexpr std::uint64_t kPreviousInUse = 1;
  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};

  ReadWords read_in_order_;
  std::vector<std::uint64_t> addresses_;  // sorted
  std::vector<std::uint64_t> words_;
};

UnseenHeap FindUnseen(const StoppedProcess& process, const std::vector<bool>& is_known_lost,
                      ReadWords read_in_order, ProcessMemory& memory) {
  std::vector<GlibcHeap> heaps;
  for (const MappedRange& range : process.maps) {
    if (range.name != "[heap]") continue;
    if (!heaps.empty() && heaps.back().end == range.begin) {
      heaps.back().end = range.end;
    } else {
      heaps.push_back({range.begin, range.end, true});
    }
  }
  for (const AddressRange& arena : process.arenas) heaps.push_back({arena.begin, arena.end, false});
  const std::vector<LiveBlock>& blocks = AllocatorsBlocks(process);
  const bool is_divided = process.divided.size() != 0;
  const ChunkSizes sizes(blocks, is_divided ? std::vector<bool>(blocks.size()) : is_known_lost,
                         heaps, std::move(read_in_order), memory);
  const auto read = [&sizes](std::uint64_t address) { return sizes.WordAt(address); };
  return FindUnseenHeap({heaps, blocks, AllocatorWords(process, memory), read});
}

// Marks among all blocks and the chunks that the agent has not seen.
class UnseenMarker {
 public:
  UnseenMarker(const StoppedProcess& process, std::span<const LiveBlock> candidates,
               const std::vector<LiveBlock>& chunks, ProcessMemory& memory, FileWords& file_words)
      : blocks_(process.divided.WithoutPieces(process.heap.blocks)) {
    blocks_.insert(blocks_.end(), chunks.begin(), chunks.end());
    std::sort(blocks_.begin(), blocks_.end(),
              [](const LiveBlock& a, const LiveBlock& b) { return a.address < b.address; });
    divided_ = DividedChunks(process.heap.chunks, blocks_);
    numbers_ = NumbersOf(candidates, blocks_);
    marker_.emplace(blocks_, numbers_, [&memory](std::uint64_t begin, std::uint64_t end) {
      return memory.At(begin, end);
    });
    marker_->Divide(divided_);
    MarkFromVariables(process, memory, *marker_);
    MarkFromThreads(process, memory, *marker_);
    MarkFromMoreRoots(process, RootReader(memory, file_words, TopsOfUnmarked(blocks_, *marker_)),
                      *marker_);
    conclusion_ = marker_->Conclude();
  }

  const std::vector<LiveBlock>& blocks() const { return blocks_; }
  const std::vector<std::uint32_t>& numbers() const { return numbers_; }
  const ReachMarker& marker() const { return *marker_; }
  const std::vector<Reach>& conclusion() const { return conclusion_; }

 private:
  std::vector<LiveBlock> blocks_;
  DividedChunks divided_;
  std::vector<std::uint32_t> numbers_;
  std::optional<ReachMarker> marker_;
  std::vector<Reach> conclusion_;
};

// Whether a chunk that the agent has not seen holds a block that is not marked.
bool MayHold(const std::vector<LiveBlock>& chunks, const ReachMarker& marker,
             ProcessMemory& memory) {
  return std::any_of(chunks.begin(), chunks.end(), [&](const LiveBlock& chunk) {
    const std::uint64_t end = (chunk.address + chunk.size_bytes) & ~std::uint64_t{7};
    for (std::uint64_t at = chunk.address; at < end;) {
      const Words words = memory.At(at, end);
      if (marker.LeadsToUnmarked(words)) return true;
      at += words.size() * sizeof(std::uint64_t);
    }
    return false;
  });
}

// One look, in the order of its steps: Stop, Mark, MarkSlowly if that is wanted, Conclude.
class Look {
 public:
  enum class Candidates {
    kOfRequest,
    kAllBlocks,
    kAlone,  // of the request, and no other blocks are known
  };

  Look(const ReachRequest& request, Candidates candidates, StoppedProcess process,
       ProcessMemory& memory)
      : request_(request),
        process_(std::move(process)),
        memory_(memory),
        candidates_(candidates),
        file_words_(request.file_words != nullptr ? *request.file_words : own_file_words_),
        is_known_lost_(FindKnownLost(request, process_.heap.blocks)),
        keeps_no_memory_(candidates == Candidates::kAllBlocks &&
                         process_.heap.blocks.size() >= ReachMarker::kManyBlocks),
        numbers_(candidates == Candidates::kAllBlocks
                     ? NumbersButFor(is_known_lost_, process_.divided)
                     : NumbersOf(request.candidates, process_.heap.blocks)) {
    std::vector<std::uint32_t> live = numbers_;
    std::erase(live, BlockIndex::kNone);
    marker_.emplace(
        process_.heap.blocks, std::move(live),
        [this](std::uint64_t begin, std::uint64_t end) { return memory_.At(begin, end); },
        HeaderBytesOf(request, process_.heap.blocks));
    marker_->Divide(process_.divided);
    if (keeps_no_memory_) marker_->ReadInOrder(ReaderInOrder());
    LeaveOutKnownLost();
    file_words_.BeginLook(request_.pid, process_.maps);
    process_.roots = FindRoots(Sources());
    AddRootRegions();
    if (request_.ignored != nullptr) LeaveOut(*request_.ignored);
    std::vector<bool> ignored = FindIgnored(request, process_.heap.blocks);
    const bool has_ignored = !ignored.empty();
    marker_->Ignore(std::move(ignored));
    if (candidates == Candidates::kAlone) {
      if (has_ignored) MarkFromIgnored();
      return;
    }
    MarkFromVariables(process_, memory_, *marker_);
    // Before stacks, since a word that a function has left there says nothing against the code.
    if (has_ignored) MarkFromIgnored();
    MarkFromThreads(process_, memory_, *marker_);
    MarkFromSavedContexts();
  }

  [[nodiscard]] bool HasLostBlocks() const { return !marker_->HasMarkedAllCandidates(); }

  void LookSlowly() {
    process_.more_roots = FindHiddenRoots(Sources());
    std::vector<KernelObject> kept = FindKernelWords(request_.pid);
    std::move(kept.begin(), kept.end(), std::back_inserter(process_.objects));
    KernelQueues queues = FindKernelQueues(request_.pid, process_.threads);
    std::move(queues.read.begin(), queues.read.end(), std::back_inserter(process_.objects));
    if (candidates_ == Candidates::kAlone) return LookForAnyPointer(queues);
    const UnseenHeap unseen = FindUnseen(process_, is_known_lost_, ReaderInOrder(), memory_);
    for (const SbrkRange& range : unseen.ranges) {
      process_.more_roots.push_back({{range.begin, range.end}});
    }
    const RootReader reader(memory_, file_words_, TopsOfUnmarked(process_.heap.blocks, *marker_));
    MarkFromMoreRoots(process_, reader, *marker_);
    if (HasLostBlocks()) MarkFromAbsentPages(process_, memory_, *marker_);
    if (HasLostBlocks()) MarkFromOddWords(process_, memory_, reader, *marker_);
    if (HasLostBlocks() && !queues.unread.empty()) HoldBy(queues.unread.front());
    if (HasLostBlocks() && MayHold(unseen.chunks, *marker_, memory_)) LookAtUnseen(unseen);
  }

  // What nobody can read without taking it may be a pointer to any block.
  void HoldBy(const std::string& queue) {
    std::vector<std::uint64_t> addresses;
    for (const std::uint32_t number : numbers_) {
      if (number == BlockIndex::kNone || marker_->IsMarked(number)) continue;
      addresses.push_back(process_.heap.blocks[number].address);
    }
    MarkFromObject({queue + ", whose bytes cannot be read,", std::move(addresses), true});
  }

  // REQUIRES: the marking is done. The process may run again afterwards.
  void Conclude() { conclusion_ = marker_->Conclude(); }

  // Takes all blocks that would be lost for retained, since the look cannot be sure: `why` is what
  // may hold them. REQUIRES: Conclude() has been called.
  void DoubtLost(std::string why) {
    doubt_ = std::move(why);
    is_doubted_.assign(conclusion_.size(), false);
    for (std::size_t i = 0; i < conclusion_.size(); ++i) {
      if (!IsLost(conclusion_[i])) continue;
      conclusion_[i] = Reach::kRetained;
      is_doubted_[i] = true;
    }
  }

  // REQUIRES: all blocks are candidates. Nothing is called afterwards.
  [[nodiscard]] HeapReach TakeHeap(LookDepth depth) {
    for (std::size_t i = 0; i < unseen_candidates_.size(); ++i) {
      if (unseen_->conclusion()[i] != Reach::kRetained) continue;
      conclusion_[unseen_candidates_[i]] = Reach::kRetained;
    }
    HeapReach heap{{}, std::vector<Reach>(process_.heap.blocks.size(), Reach::kUnknown), {}, depth};
    for (std::size_t i = 0; i < numbers_.size(); ++i) heap.reaches[numbers_[i]] = conclusion_[i];
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      if (conclusion_[i] != Reach::kIndirectlyLost) continue;
      heap.lost_with[process_.divided.NumberWithoutPieces(numbers_[i])] =
          marker_->LostWithOf(numbers_[i]);
    }
    heap.blocks = process_.divided.WithoutPieces(std::move(process_.heap.blocks));
    heap.reaches = process_.divided.WithoutPieces(std::move(heap.reaches));
    return heap;
  }

  [[nodiscard]] std::vector<BlockReach> Reaches() {
    const RootNamer namer(process_.maps, process_.modules, process_.threads, process_.objects,
                          request_.variables);
    std::vector<BlockReach> reaches(numbers_.size());
    Holders holders(process_.heap.blocks, *marker_, NamesBy(namer));
    std::size_t next = 0;
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      if (numbers_[i] == BlockIndex::kNone) continue;
      const std::size_t at = next++;
      reaches[i].reach = conclusion_[at];
      reaches[i].is_ignored = marker_->IsFromIgnored(numbers_[i]);
      if (IsDoubted(at)) {
        reaches[i].holder = std::make_shared<const HolderChain>(HolderChain{.root = doubt_});
      } else if (reaches[i].reach == Reach::kRetained) {
        NameHolder(numbers_[i], holders, reaches[i]);
      } else {
        reaches[i].lost_with = marker_->LostWithOf(numbers_[i]);
      }
    }
    if (unseen_) AddHeldByUnseen(namer, reaches);
    return reaches;
  }

 private:
  // Reads memory only until something leads to a candidate. Words that may lead there oddly are
  // among it, as are plain pointers.
  void LookForAnyPointer(const KernelQueues& queues) {
    MarkFromSavedContexts();
    if (!queues.unread.empty()) HoldBy(queues.unread.front());
    if (marker_->HasMarkedAny()) return;
    MarkFromAbsentPages(process_, memory_, *marker_);
    if (marker_->HasMarkedAny()) return;
    const RootReader reader(memory_, file_words_, TopsOfUnmarked(process_.heap.blocks, *marker_));
    // What takes longest comes last.
    std::stable_sort(process_.roots.begin(), process_.roots.end(),
                     [](const RootRange& a, const RootRange& b) {
                       return a.range.end - a.range.begin < b.range.end - b.range.begin;
                     });
    int left_to_ask = 256;
    const auto is_passed = [&](std::uint64_t at) { return left_to_ask-- > 0 && IsBehindBlock(at); };
    MarkFromAnyWord(process_, memory_, reader, is_passed, *marker_);
  }

  // Whether a word of glibc's heap is in the chunk of a live block, but behind the bytes that were
  // asked for: what stands there is left over, as in free memory. A small text that was there
  // before leaves a pointer to where it stood, which is where the next block begins.
  [[nodiscard]] bool IsBehindBlock(std::uint64_t at) const {
    const MappedRange* const range = FindRange(process_.maps, at);
    const bool is_glibcs = (range != nullptr && range->name == "[heap]") ||
                           std::any_of(process_.arenas.begin(), process_.arenas.end(),
                                       [at](const AddressRange& arena) { return arena.Has(at); });
    if (!is_glibcs) return false;
    const Expected<std::optional<LiveBlock>> before = request_.region.BlockBefore(at);
    if (!before || !*before || (*before)->address + (*before)->size_bytes > at) return false;
    const LiveBlock& block = **before;
    const std::uint64_t header = memory_.At(block.address - 8, block.address).front();
    const std::uint64_t chunk = header & ~std::uint64_t{15};
    const std::uint64_t needed = ChunkBytes(block.size_bytes);
    const bool is_chunk = (chunk == needed || chunk == needed + 16) && block.address % 16 == 0;
    return is_chunk && at + sizeof(std::uint64_t) <= block.address - 8 + chunk;
  }

  // Reads what is asked for by address.
  [[nodiscard]] ReadWords ReaderInOrder() {
    return [this](std::uint64_t begin, std::uint64_t end) {
      return keeps_no_memory_ ? memory_.InOrder(begin, end) : memory_.At(begin, end);
    };
  }

  [[nodiscard]] RootSources Sources() const {
    return {process_.maps,
            process_.modules,
            process_.threads,
            process_.heap,
            process_.own_ranges,
            process_.kept_ranges,
            process_.reallocated,
            process_.arenas,
            memory_,
            candidates_ == Candidates::kAlone};
  }

  // The code says which memory has pointers. Of that, what is not mapped has none.
  void AddRootRegions() {
    std::vector<AddressRange> regions;
    for (const KeptRange& region : request_.region.RootRegions()) {
      constexpr std::uint64_t kWordMask = sizeof(std::uint64_t) - 1;
      const AddressRange words{(region.begin + kWordMask) & ~kWordMask, region.end & ~kWordMask};
      if (region.begin <= words.begin && words.begin < words.end) regions.push_back(words);
    }
    if (regions.empty()) return;
    for (const AddressRange& region : JoinRanges(std::move(regions))) {
      for (const MappedRange& range : process_.maps) {
        const AddressRange part{std::max(region.begin, range.begin),
                                std::min(region.end, range.end)};
        if (range.is_readable && part.begin < part.end) process_.roots.push_back({.range = part});
      }
    }
    std::stable_sort(process_.roots.begin(), process_.roots.end(),
                     [](const RootRange& a, const RootRange& b) { return a.kind < b.kind; });
  }

  // Its blocks are told to be held by it. It need not be the kernel's.
  void MarkFromObject(KernelObject object) {
    process_.objects.push_back(std::move(object));
    marker_->AddRoots(process_.objects.back().words,
                      {.kernel_object = static_cast<std::uint32_t>(process_.objects.size())});
    marker_->Mark();
  }

  // Only where the words of an idle signal stack would change what is lost.
  void MarkFromSavedContexts() {
    if (!HasLostBlocks() || process_.idle_stacks.empty()) return;
    const ProcessMemory memory(request_.pid);  // which reads those stacks, too
    std::vector<std::uint64_t> words;
    const auto add = [&](std::uint64_t, Words more) {
      words.insert(words.end(), more.begin(), more.end());
    };
    for (const AddressRange& stack : process_.idle_stacks) memory.ForEachPart(stack, add);
    if (!marker_->LeadsToUnmarked(words)) return;
    words.clear();
    const SavedPointerPlaces places{process_.roots, process_.heap.blocks, process_.threads};
    for (const AddressRange& stack : StacksWithContexts(process_.idle_stacks, places, memory_)) {
      memory.ForEachPart(stack, add);
    }
    if (words.empty()) return;
    MarkFromObject({.name = "a context saved on a signal stack", .words = std::move(words)});
  }

  // They count as held by an object that is none of the kernel's.
  void MarkFromIgnored() {
    process_.objects.push_back({.name = "what the code has leak checkers ignore", .words = {}});
    marker_->MarkIgnored({.kernel_object = static_cast<std::uint32_t>(process_.objects.size())});
  }

  void LeaveOut(const IgnoredAccount& account) {
    const std::vector<AddressRange> variables = JoinRanges(account.variables);
    std::vector<RootRange> roots;
    for (const RootRange& root : process_.roots) {
      for (const AddressRange& part : SubtractRanges(root.range, variables)) {
        roots.push_back(root);
        roots.back().range = part;
      }
    }
    process_.roots = std::move(roots);
    MarkWhatHasMoreEntries(variables, account.entries);
  }

  void MarkWhatHasMoreEntries(const std::vector<AddressRange>& variables, std::uint32_t entries) {
    const RootReader reader(memory_);
    const auto for_each_pointer = [&](const auto& use) {
      for (const AddressRange& variable : variables) {
        reader.ForEach({.range = variable}, [&](const RootWords& root) {
          for (std::size_t i = 0; i < root.words.size(); ++i) {
            const std::uint32_t block = marker_->BlockOf(root.words[i]);
            const RootPlace place{.address = root.place.address + i * sizeof(std::uint64_t)};
            if (block != BlockIndex::kNone) use(block, root.words.subspan(i, 1), place);
          }
        });
      }
    };
    std::unordered_map<std::uint32_t, std::uint32_t> count;  // by block
    for_each_pointer([&](std::uint32_t block, Words, const RootPlace&) { ++count[block]; });
    for_each_pointer([&](std::uint32_t block, Words word, const RootPlace& place) {
      if (count[block] > entries) marker_->AddRoots(word, place);
    });
  }

  void LeaveOutKnownLost() {
    std::vector<bool> known = is_known_lost_;
    for (const std::uint32_t candidate : numbers_) {
      if (candidate != BlockIndex::kNone) known[candidate] = false;
    }
    std::vector<bool> may_lead = FindOwners(request_.region, process_.heap.blocks, known);
    marker_->LeaveOut(std::move(known), std::move(may_lead));
  }

  [[nodiscard]] bool IsDoubted(std::size_t candidate) const {
    return candidate < is_doubted_.size() && is_doubted_[candidate];
  }

  void NameHolder(std::uint32_t block, Holders& holders, BlockReach& reach) const {
    const bool is_wanted =
        request_.names_holder != nullptr && request_.names_holder(holders.Block(block));
    if (is_wanted && holders.IsFirstOfStack(block)) {
      reach.holder = std::make_shared<const HolderChain>(holders.Of(block));
    }
  }

  [[nodiscard]] NameRoot NamesBy(const RootNamer& namer) const {
    return [this, &namer](const RootPlace& place) -> NamedRoot {
      const std::uint32_t object = place.kernel_object;
      return {namer.NameOf(place), namer.GlobalAt(place),
              object != 0 && process_.objects[object - 1].is_queue};
    };
  }

  // Looks only for the blocks that are not marked yet.
  void LookAtUnseen(const UnseenHeap& unseen) {
    std::vector<LiveBlock> lost;
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      if (numbers_[i] == BlockIndex::kNone || marker_->IsMarked(numbers_[i])) continue;
      lost.push_back(process_.heap.blocks[numbers_[i]]);
      unseen_candidates_.push_back(i);
    }
    unseen_.emplace(process_, lost, unseen.chunks, memory_, file_words_);
  }

  void AddHeldByUnseen(const RootNamer& namer, std::vector<BlockReach>& reaches) const {
    Holders holders(unseen_->blocks(), unseen_->marker(), NamesBy(namer));
    for (std::size_t i = 0; i < unseen_candidates_.size(); ++i) {
      if (unseen_->conclusion()[i] != Reach::kRetained) continue;
      BlockReach& reach = reaches[unseen_candidates_[i]];
      reach.reach = Reach::kRetained;
      NameHolder(unseen_->numbers()[i], holders, reach);
    }
  }

  const ReachRequest& request_;
  StoppedProcess process_;
  ProcessMemory& memory_;
  const Candidates candidates_;
  FileWords own_file_words_;
  FileWords& file_words_;
  const std::vector<bool> is_known_lost_;
  const bool keeps_no_memory_;
  std::vector<std::uint32_t> numbers_;  // of the candidates
  std::optional<ReachMarker> marker_;
  std::vector<Reach> conclusion_;  // of the candidates that are live
  std::optional<UnseenMarker> unseen_;
  std::vector<std::size_t> unseen_candidates_;
  std::string doubt_;
  std::vector<bool> is_doubted_;  // of the candidates that are live; empty if none is
};

// Returns what of a thread may hold a block without being seen; empty if there is no such thread.
std::string WhatMayHide(const std::vector<FrozenThread>& threads) {
  const auto hides = std::find_if(threads.begin(), threads.end(),
                                  [](const FrozenThread& t) { return t.hides_registers; });
  if (hides == threads.end()) return {};
  return fmt::format("perhaps a register of thread {} '{}', which waits in a system call",
                     hides->tid, hides->name);
}

// Of a thread that was left asleep, the agent may know the thread pointer.
std::vector<FrozenThread> WithPointers(const RegionReader& region,
                                       std::vector<FrozenThread> threads) {
  const auto lacks_pointer = [](const FrozenThread& thread) { return thread.thread_pointer == 0; };
  if (std::none_of(threads.begin(), threads.end(), lacks_pointer)) return threads;
  for (std::uint32_t id = 1; id < region.ThreadCount(); ++id) {
    const ThreadCopy known = region.Thread(id);
    for (FrozenThread& thread : threads) {
      const bool is_it = known.tid == thread.tid && !known.has_ended;
      if (is_it && lacks_pointer(thread)) thread.thread_pointer = known.pointer;
    }
  }
  return threads;
}

// What a look has come to.
enum class Standing {
  kStill,  // nothing has run meanwhile
  kWoken,  // a thread that was left asleep has run: what was read may be of two moments
};

Expected<HeapCopy> CopyCandidates(const ReachRequest& request) {
  std::vector<LiveBlock> candidates(request.candidates.begin(), request.candidates.end());
  std::sort(candidates.begin(), candidates.end(),
            [](const LiveBlock& a, const LiveBlock& b) { return a.address < b.address; });
  LEAKGATE_TRY_ASSIGN(std::vector<LiveBlock> live, request.region.StillLive(candidates));
  return HeapCopy{.blocks = std::move(live), .pages = {}};
}

// Returns the blocks that are no pool's. Empty if no block is divided.
std::vector<LiveBlock> AllocatorsBlocksOf(const HeapCopy& heap) {
  std::vector<LiveBlock> blocks;
  if (heap.chunks.empty()) return blocks;
  std::merge(heap.blocks.begin(), heap.blocks.end(), heap.chunks.begin(), heap.chunks.end(),
             std::back_inserter(blocks),
             [](const LiveBlock& a, const LiveBlock& b) { return a.address < b.address; });
  std::erase_if(blocks, [](const LiveBlock& block) { return block.pool != 0; });
  return blocks;
}

// Freezes the process, looks, and lets it go on. Calls `take` with the look that is done, with how
// deep it was, and with whether it may count.
template <typename Take>
Expected<void> LookOnce(const ReachRequest& request, Look::Candidates candidates, LookDepth depth,
                        SleepingThreads sleeping, const Take& take) {
  LEAKGATE_TRY_ASSIGN(
      FrozenProcess frozen,
      FrozenProcess::Freeze(
          {.pid = request.pid, .sleeping = sleeping, .asking_tid = request.asking_tid}));
  LEAKGATE_TRY_ASSIGN(HeapCopy heap, candidates == Look::Candidates::kAlone
                                         ? CopyCandidates(request)
                                         : request.region.CopyHeap());
  std::vector<LiveBlock> undivided = AllocatorsBlocksOf(heap);
  DividedChunks divided(heap.chunks, heap.blocks);
  LEAKGATE_TRY_ASSIGN(std::vector<MappedRange> maps, ReadMaps(request.pid));
  ProcessMemory memory(request.pid);
  LEAKGATE_TRY(RequireShortLook(request.pid, maps, memory));
  const std::vector<KeptRange> kept = request.region.KeptRanges();
  std::vector<AddressRange> idle_stacks = FindIdleSignalStacks(kept, frozen.threads(), memory);
  memory.ReadAsZero(idle_stacks);

  std::vector<MappedModule> modules = FindModules(maps, memory);
  std::vector<AddressRange> arenas = FindArenaHeaps(maps, memory);
  Look look(
      request, candidates,
      {.heap = std::move(heap),
       .divided = std::move(divided),
       .undivided = std::move(undivided),
       .maps = std::move(maps),
       .modules = std::move(modules),
       .threads = WithPointers(request.region, SkipRedZoneOf(request.asking_tid, frozen.threads())),
       .own_ranges = request.region.OwnRanges(),
       .kept_ranges = kept,
       .reallocated = request.region.ReallocatedBlocks(),
       .arenas = std::move(arenas),
       .idle_stacks = std::move(idle_stacks)},
      memory);
  const std::string hides = WhatMayHide(frozen.threads());
  if (look.HasLostBlocks() && frozen.threads().size() == 1 && hides.empty()) {
    depth = LookDepth::kSlow;
  }
  const bool is_slow = depth == LookDepth::kSlow || candidates == Look::Candidates::kAlone;
  if (look.HasLostBlocks() && is_slow) look.LookSlowly();
  look.Conclude();
  const Standing standing = frozen.HasStoodStill() ? Standing::kStill : Standing::kWoken;
  frozen.Thaw();
  if (depth == LookDepth::kSlow && !hides.empty()) look.DoubtLost(hides);
  take(look, depth, standing);
  return {};
}

// Looks until no thread wakes meanwhile. A quick look stops no thread that sleeps. If a thread that
// sleeps wakes, those are stopped, too, that do not notice it: most of them wake by a clock. If
// even so one wakes each time, nothing counts as lost.
template <typename Take>
auto LookAt(const ReachRequest& request, Look::Candidates candidates, LookDepth depth, Take take)
    -> Expected<decltype(take(std::declval<Look&>(), depth))> {
  constexpr int kMostLooks = 6;
  SleepingThreads sleeping =
      depth == LookDepth::kQuick ? SleepingThreads::kLeft : SleepingThreads::kStoppedUnseen;
  std::optional<decltype(take(std::declval<Look&>(), depth))> result;
  for (int i = 1; !result; ++i) {
    LEAKGATE_TRY(LookOnce(
        request, candidates, depth, sleeping, [&](Look& look, LookDepth deep, Standing standing) {
          if (standing == Standing::kWoken && i < kMostLooks) return;
          if (standing == Standing::kWoken) {
            deep = LookDepth::kSlow;
            look.DoubtLost("not known, since threads woke whenever it was looked at");
          }
          result = take(look, deep);
        }));
    sleeping = SleepingThreads::kStoppedUnseen;
    if (!result) std::this_thread::sleep_for(std::chrono::milliseconds(1 << i));
  }
  return *std::move(result);
}

}  // namespace

Expected<LookResult> LookAtProcess(const ReachRequest& request, LookDepth depth) {
  return LookAt(request, Look::Candidates::kOfRequest, depth, [](Look& look, LookDepth looked) {
    return LookResult{look.Reaches(), looked};
  });
}

Expected<LookResult> LookForPointers(const ReachRequest& request, LookDepth depth) {
  return LookAt(request, Look::Candidates::kAlone, depth, [](Look& look, LookDepth looked) {
    return LookResult{look.Reaches(), looked};
  });
}

Expected<HeapReach> LookAtHeap(const ReachRequest& request, LookDepth depth) {
  return LookAt(request, Look::Candidates::kAllBlocks, depth,
                [](Look& look, LookDepth looked) { return look.TakeHeap(looked); });
}

}  // namespace leakgate
