#include "runner/reach/look.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>

#include "runner/reach/candidates.h"
#include "runner/reach/holders.h"
#include "runner/reach/nt/debug_heap.h"
#include "runner/reach/nt/root_namer.h"
#include "runner/reach/nt/root_ranges.h"
#include "runner/reach/nt/security_cookies.h"
#include "runner/reach/nt/stopped_process.h"
#include "runner/reach/nt/windows_of.h"
#include "runner/reach/nt/written_words.h"

namespace leakgate {

// Nothing is remembered of files here: their pages are read each time.
class FileWords {};
std::shared_ptr<FileWords> NewFileWords() { return std::make_shared<FileWords>(); }

namespace {

// What is known of the process while it is stopped.
struct SeenProcess {
  HeapCopy heap;  // with the pieces of its chunks among the blocks
  DividedChunks divided;
  std::vector<MemoryRange> memory;
  std::vector<ImageModule> modules;
  std::vector<StoppedThread> threads;
  std::vector<OwnRange> own_ranges;
  std::vector<KeptRange> kept_ranges;
  std::vector<KeptRange> declared;
  std::vector<ReallocatedCopy> reallocated;
  std::optional<WalkedHeaps> walked_heaps{};  // in the slow look
  std::vector<RootRange> roots{};             // sorted by kind
  std::vector<RootRange> more_roots{};        // of the slow look
  std::vector<std::string> objects{};         // what holds blocks without an address
};

class Look {
 public:
  enum class Candidates { kOfRequest, kAllBlocks };

  Look(const ReachRequest& request, Candidates candidates, SeenProcess process,
       ProcessMemory& memory)
      : request_(request),
        process_(std::move(process)),
        memory_(memory),
        is_known_lost_(FindKnownLost(request, process_.heap.blocks)),
        numbers_(candidates == Candidates::kAllBlocks
                     ? NumbersButFor(is_known_lost_, process_.divided)
                     : NumbersOf(request.candidates, process_.heap.blocks)) {
    std::vector<std::uint32_t> live = numbers_;
    std::erase(live, BlockIndex::kNone);
    marker_.emplace(
        process_.heap.blocks, std::move(live),
        [this](std::uint64_t begin, std::uint64_t end) { return memory_.At(begin, end); },
        HeaderBytes());
    marker_->Divide(process_.divided);
    if (candidates == Candidates::kAllBlocks &&
        process_.heap.blocks.size() >= ReachMarker::kManyBlocks) {
      marker_->ReadInOrder(
          [this](std::uint64_t begin, std::uint64_t end) { return memory_.InOrder(begin, end); });
    }
    LeaveOutKnownLost();
    process_.roots = FindRoots(Sources());
    if (request.ignored != nullptr) LeaveOut(*request.ignored);
    AddReallocated();
    std::vector<bool> ignored = FindIgnored(request, process_.heap.blocks);
    const bool has_ignored = !ignored.empty();
    marker_->Ignore(std::move(ignored));
    MarkFrom(process_.roots, RootsOf::kVariables);
    // Before stacks, since a word that a function has left there says nothing against the code.
    if (has_ignored) MarkFromIgnored();
    MarkFrom(process_.roots, RootsOf::kStacks);
    MarkFromRegisters();
  }

  [[nodiscard]] bool HasLostBlocks() const { return !marker_->HasMarkedAllCandidates(); }

  void LookSlowly(std::optional<WalkedHeaps> heaps) {
    process_.walked_heaps = std::move(heaps);
    process_.more_roots = FindHiddenRoots(Sources());
    MarkFrom(process_.more_roots, RootsOf::kVariables);
    if (HasLostBlocks()) MarkFromEncodedVariables();
    if (HasLostBlocks()) MarkFromOddWords();
    if (HasLostBlocks() && HasMemoryWithoutAccess(Sources())) {
      HoldBy("memory without access, which cannot be read,");
    }
    const bool awaits_any =
        std::any_of(process_.threads.begin(), process_.threads.end(),
                    [](const StoppedThread& thread) { return thread.awaits_input_or_output; });
    if (HasLostBlocks() && HasWindows(request_.pid, process_.threads, process_.modules)) {
      HoldBy("the data of a window, which cannot be read,");
    }
    if (HasLostBlocks() && awaits_any) HoldBy("an input or output that a thread has begun");
  }

  // REQUIRES: the marking is done. The process may run again afterwards.
  void Conclude() {
    conclusion_ = marker_->Conclude();
    written_words_.CloseFiles();
  }

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
    const RootNamer namer(
        process_.memory, process_.modules, process_.threads, process_.objects,
        [this](std::uint64_t address) { return IsBetweenBlocks(address); }, request_.variables);
    Holders holders(process_.heap.blocks, *marker_,
                    [&namer](const RootPlace& place) { return namer.NameOf(place); });
    std::vector<BlockReach> reaches(numbers_.size());
    std::size_t next = 0;
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      if (numbers_[i] == BlockIndex::kNone) continue;
      const std::size_t at = next++;
      BlockReach& reach = reaches[i];
      reach.reach = conclusion_[at];
      reach.is_ignored = marker_->IsFromIgnored(numbers_[i]);
      if (at < is_doubted_.size() && is_doubted_[at]) {
        reach.holder = std::make_shared<const HolderChain>(HolderChain{.root = doubt_});
      } else if (reach.reach != Reach::kRetained) {
        reach.lost_with = marker_->LostWithOf(numbers_[i]);
      } else if (request_.names_holder != nullptr &&
                 request_.names_holder(holders.Block(numbers_[i])) &&
                 holders.IsFirstOfStack(numbers_[i])) {
        reach.holder = std::make_shared<const HolderChain>(holders.Of(numbers_[i]));
      }
    }
    return reaches;
  }

 private:
  [[nodiscard]] RootSources Sources() const {
    return {process_.memory,     process_.modules,
            process_.threads,    process_.heap,
            process_.own_ranges, process_.kept_ranges,
            process_.declared,   process_.walked_heaps ? &*process_.walked_heaps : nullptr};
  }

  [[nodiscard]] std::vector<std::uint64_t> HeaderBytes() {
    std::vector<std::uint64_t> bytes = HeaderBytesOf(request_, process_.heap.blocks);
    AddDebugHeaders({process_.heap.blocks, numbers_, process_.modules}, memory_, bytes);
    return bytes;
  }

  void LeaveOutKnownLost() {
    std::vector<bool> known = is_known_lost_;
    for (const std::uint32_t candidate : numbers_) {
      if (candidate != BlockIndex::kNone) known[candidate] = false;
    }
    std::vector<bool> may_lead = FindOwners(request_.region, process_.heap.blocks, known);
    marker_->LeaveOut(std::move(known), std::move(may_lead));
  }

  void LeaveOut(const IgnoredAccount& account) {
    const std::vector<AddressRange> variables = JoinRanges(account.variables);
    std::vector<RootRange> roots;
    for (const RootRange& root : process_.roots) {
      for (const AddressRange& part : SubtractRanges(root.range, variables)) {
        roots.push_back({part, root.kind, root.tid});
      }
    }
    process_.roots = std::move(roots);
    MarkWhatHasMoreEntries(variables, account.entries);
  }

  // Those variables may have the program's own pointers, too: see IgnoredAccount.
  void MarkWhatHasMoreEntries(const std::vector<AddressRange>& variables, std::uint32_t entries) {
    std::unordered_map<std::uint32_t, std::uint32_t> count;  // by block
    const auto for_each_pointer = [&](const auto& use) {
      for (const AddressRange& variable : variables) {
        memory_.ForEachPart(variable, [&](std::uint64_t address, Words words) {
          for (std::size_t i = 0; i < words.size(); ++i) {
            const std::uint32_t block = marker_->BlockOf(words[i]);
            const std::uint64_t at = address + i * sizeof(std::uint64_t);
            if (block != BlockIndex::kNone) use(block, words.subspan(i, 1), at);
          }
        });
      }
    };
    for_each_pointer([&](std::uint32_t block, Words, std::uint64_t) { ++count[block]; });
    for_each_pointer([&](std::uint32_t block, Words word, std::uint64_t at) {
      if (count[block] > entries) marker_->AddRoots(word, {.address = at});
    });
  }

  // A block that a thread is just reallocating is no live one. Its words count where it was, and
  // wherever the thread's registers and innermost frames may have its new place.
  void AddReallocated() {
    for (const ReallocatedCopy& block : process_.reallocated) {
      AddBlock({block.address, block.address + block.size_bytes}, block.tid);
      for (const StoppedThread& thread : process_.threads) {
        if (thread.tid == block.tid) AddNewPlaces(thread, block.size_bytes);
      }
    }
  }
  void AddNewPlaces(const StoppedThread& thread, std::uint64_t bytes) {
    constexpr std::uint64_t kInnermostFrames = 4096;
    std::vector<std::uint64_t> words = thread.registers;
    memory_.ForEachPart(
        {thread.stack_pointer, thread.stack_pointer + kInnermostFrames},
        [&](std::uint64_t, Words stack) { words.insert(words.end(), stack.begin(), stack.end()); });
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    for (const std::uint64_t word : words) {
      if (word % 16 != 0 || marker_->BlockOf(word) != BlockIndex::kNone) continue;
      AddBlock({word, word + bytes}, thread.tid);
    }
  }
  void AddBlock(AddressRange block, int tid) {
    for (const MemoryRange& memory : process_.memory) {
      const AddressRange part{std::max(block.begin, memory.range.begin),
                              std::min(block.end, memory.range.end)};
      if (!memory.is_writable || part.begin >= part.end) continue;
      process_.roots.push_back({part, RootKind::kStack, tid});
    }
  }

  // Marks from one kind of roots after the other, so that a holder is of the kind that says most.
  enum class RootsOf { kVariables, kStacks };
  void MarkFrom(const std::vector<RootRange>& roots, RootsOf which) {
    std::optional<RootKind> kind;
    for (const RootRange& root : roots) {
      const bool is_stack = root.kind == RootKind::kStack;
      if (is_stack != (which == RootsOf::kStacks)) continue;
      if (marker_->HasMarkedAllCandidates()) return;
      if (kind && *kind != root.kind) marker_->Mark();
      kind = root.kind;
      memory_.ForEachPart(root.range, [&](std::uint64_t address, Words words) {
        // Files are read only where they may matter.
        if (root.kind == RootKind::kGlobal && LeadsToBlock(words)) {
          words = written_words_.Of(address, words);
        }
        marker_->AddRoots(words, {.address = address, .tid = root.tid});
      });
    }
    marker_->Mark();
  }

  [[nodiscard]] bool LeadsToBlock(Words words) const {
    return std::any_of(words.begin(), words.end(), [this](std::uint64_t word) {
      return marker_->BlockOf(word) != BlockIndex::kNone;
    });
  }

  void MarkFromRegisters() {
    for (const StoppedThread& thread : process_.threads) {
      marker_->AddRoots(thread.registers, {.tid = thread.tid});
    }
    marker_->Mark();
  }

  void MarkFromEncodedVariables() {
    const std::vector<PointerCode> codes = CodesOf(process_.modules, memory_);
    for (const RootRange& root : process_.roots) {
      if (root.kind != RootKind::kGlobal) continue;
      memory_.ForEachPart(root.range, [&](std::uint64_t address, Words words) {
        for (const PointerCode& code : codes) {
          marker_->AddEncodedRoots(words, {.address = address}, code);
        }
      });
    }
    marker_->Mark();
  }

  void MarkFromOddWords() {
    const auto for_each_word = [&](const UseRoots& use) {
      for (const auto* const roots : {&process_.roots, &process_.more_roots}) {
        for (const RootRange& root : *roots) {
          memory_.ForEachPart(root.range, [&](std::uint64_t address, Words words) {
            use({written_words_.Of(address, words), {.address = address, .tid = root.tid}});
          });
        }
      }
      // Each register is a word of its own.
      for (const StoppedThread& thread : process_.threads) {
        for (const std::uint64_t& word : thread.registers) {
          use({Words(&word, 1), {.tid = thread.tid}});
        }
      }
    };
    marker_->MarkOddly(for_each_word, PointerCode::Of(request_.region.PointersEncoded()));
  }

  [[nodiscard]] bool IsBetweenBlocks(std::uint64_t address) const {
    return std::any_of(process_.more_roots.begin(), process_.more_roots.end(),
                       [address](const RootRange& root) {
                         return root.kind == RootKind::kHeap && root.range.Has(address);
                       });
  }

  // They count as held by an object that has no address.
  void MarkFromIgnored() {
    process_.objects.emplace_back("what the code has leak checkers ignore");
    marker_->MarkIgnored({.kernel_object = static_cast<std::uint32_t>(process_.objects.size())});
  }
  // What nobody can read may be a pointer to any block.
  void HoldBy(std::string what) {
    process_.objects.push_back(std::move(what));
    std::vector<std::uint64_t> addresses;
    for (const std::uint32_t number : numbers_) {
      if (number == BlockIndex::kNone || marker_->IsMarked(number)) continue;
      addresses.push_back(process_.heap.blocks[number].address);
    }
    marker_->AddRoots(addresses,
                      {.kernel_object = static_cast<std::uint32_t>(process_.objects.size())});
    marker_->Mark();
  }

  const ReachRequest& request_;
  SeenProcess process_;
  ProcessMemory& memory_;
  WrittenWords written_words_{process_.modules};
  const std::vector<bool> is_known_lost_;
  std::vector<std::uint32_t> numbers_;  // of the candidates
  std::optional<ReachMarker> marker_;
  std::vector<Reach> conclusion_;  // of the candidates that are live
  std::string doubt_;
  std::vector<bool> is_doubted_;  // of the candidates that are live; empty if none is
};

// What is in no block of a heap that is known as a whole is free, or the heap's own.
WalkedHeaps WithoutUnseen(const std::vector<MemoryRange>& memory) {
  WalkedHeaps heaps;
  for (const MemoryRange& range : memory) heaps.allocations.push_back(range.allocation);
  return heaps;
}

// Stops the process, looks, and lets it go on. Calls `take` with the look that is done, and with
// how deep it was.
template <typename Take>
auto LookAt(const ReachRequest& request, Look::Candidates candidates, LookDepth depth, Take take)
    -> Expected<decltype(take(std::declval<Look&>(), depth))> {
  LEAKGATE_TRY_ASSIGN(StoppedProcess stopped, StoppedProcess::Stop(request.pid));
  LEAKGATE_TRY_ASSIGN(HeapCopy heap, request.region.CopyHeap());
  DividedChunks divided(heap.chunks, heap.blocks);
  ProcessMemory memory(stopped.handle());
  std::vector<MemoryRange> ranges = memory.List();
  std::vector<ImageModule> modules = memory.ListModules(ranges);
  Look look(request, candidates,
            {.heap = std::move(heap),
             .divided = std::move(divided),
             .memory = std::move(ranges),
             .modules = std::move(modules),
             .threads = stopped.threads(),
             .own_ranges = request.region.OwnRanges(),
             .kept_ranges = request.region.KeptRanges(),
             .declared = request.region.RootRegions(),
             .reallocated = request.region.ReallocatedBlocks()},
            memory);
  if (look.HasLostBlocks() && stopped.threads().size() == 1) depth = LookDepth::kSlow;
  if (look.HasLostBlocks() && depth == LookDepth::kSlow) {
    look.LookSlowly(request.region.HasAgent() ? WalkHeaps(request.pid, request.asking_tid, stopped)
                                              : WithoutUnseen(memory.List()));
  }
  look.Conclude();
  const bool has_stood_still = stopped.HasStoodStill();
  stopped.Resume();
  if (!has_stood_still) look.DoubtLost("a thread that another process has begun");
  return take(look, depth);
}

}  // namespace

Expected<LookResult> LookAtProcess(const ReachRequest& request, LookDepth depth) {
  return LookAt(request, Look::Candidates::kOfRequest, depth, [](Look& look, LookDepth looked) {
    return LookResult{look.Reaches(), looked};
  });
}

// Not done here.
Expected<LookResult> LookForPointers(const ReachRequest& request, LookDepth depth) {
  return LookResult{std::vector<BlockReach>(request.candidates.size()), depth};
}

Expected<HeapReach> LookAtHeap(const ReachRequest& request, LookDepth depth) {
  return LookAt(request, Look::Candidates::kAllBlocks, depth,
                [](Look& look, LookDepth looked) { return look.TakeHeap(looked); });
}

// The system does not say which threads wait. In this time, each that is ready has its turn.
void LetThreadsRun(int) { std::this_thread::sleep_for(std::chrono::milliseconds(50)); }

}  // namespace leakgate
