#include "runner/reach/linux/find_reach.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <future>
#include <map>
#include <set>

#include "runner/reach/linux/frozen_process.h"
#include "runner/reach/linux/root_ranges.h"

namespace leakgate {
namespace {

// Returns the number of each candidate among all blocks; kNone if it is no longer live.
std::vector<std::uint32_t> NumbersOf(std::span<const LiveBlock> candidates,
                                     const std::vector<LiveBlock>& blocks) {
  std::vector<std::uint32_t> numbers;
  numbers.reserve(candidates.size());
  for (const LiveBlock& candidate : candidates) {
    const auto found = std::lower_bound(
        blocks.begin(), blocks.end(), candidate.address,
        [](const LiveBlock& block, std::uint64_t address) { return block.address < address; });
    const bool is_live = found != blocks.end() && found->address == candidate.address &&
                         found->size_bytes == candidate.size_bytes &&
                         found->stack == candidate.stack;
    numbers.push_back(is_live ? static_cast<std::uint32_t>(found - blocks.begin())
                              : BlockIndex::kNone);
  }
  return numbers;
}

// Marks from one kind of roots after the other, so that a holder is of the kind that says most.
void MarkFrom(const std::vector<RootRange>& roots, const std::vector<FrozenThread>& threads,
              const ProcessMemory& memory, ReachMarker& marker) {
  for (std::size_t i = 0; i < roots.size(); ++i) {
    const RootRange& root = roots[i];
    memory.ForEachPart(root.range, [&](std::uint64_t address, Words words) {
      marker.AddRoots(words, {address, root.tid}, root.rule);
    });
    const bool is_last_of_kind = i + 1 == roots.size() || roots[i + 1].kind != root.kind;
    if (is_last_of_kind) marker.Mark();
    if (marker.HasMarkedAllCandidates()) return;
  }
  for (const FrozenThread& thread : threads) marker.AddRoots(thread.registers, {0, thread.tid});
  marker.Mark();
}

std::string VariableText(const Variable& variable) {
  if (variable.position.file.empty()) return variable.name;
  return fmt::format("{} ({}:{})", variable.name, variable.position.file, variable.position.line);
}

// Names a root for people: by its variable, or else by the stack, the registers or the mapping that
// it is in. The process may run meanwhile: names come from copies and from files on disk.
class RootNamer {
 public:
  // All arguments must outlive the object.
  RootNamer(const std::vector<MappedRange>& maps, const std::vector<MappedModule>& modules,
            const std::vector<FrozenThread>& threads, Variables& variables)
      : maps_(maps), modules_(modules), threads_(threads), variables_(variables) {}

  // Returns "net::g_cache (net/cache.cc:12)" or "the stack of thread 7 'worker'", say; never an
  // empty text.
  [[nodiscard]] std::string NameOf(const RootPlace& place) const;

 private:
  [[nodiscard]] std::string ThreadText(int tid) const;
  [[nodiscard]] std::string ThreadLocalText(const FrozenThread& thread,
                                            std::uint64_t address) const;
  [[nodiscard]] std::string GlobalText(const MappedModule& module, std::uint64_t address) const;
  [[nodiscard]] std::string MappingText(std::uint64_t address) const;
  [[nodiscard]] const MappedModule* Program() const;

  const std::vector<MappedRange>& maps_;
  const std::vector<MappedModule>& modules_;
  const std::vector<FrozenThread>& threads_;
  Variables& variables_;
};

std::string RootNamer::ThreadText(int tid) const {
  const auto thread = std::find_if(threads_.begin(), threads_.end(),
                                   [tid](const FrozenThread& known) { return known.tid == tid; });
  if (thread == threads_.end() || thread->name.empty()) return fmt::format("thread {}", tid);
  return fmt::format("thread {} '{}'", tid, thread->name);
}

std::string RootNamer::GlobalText(const MappedModule& module, std::uint64_t address) const {
  const std::uint64_t in_file = address - module.bias;
  const std::optional<Variable> variable = variables_.At(module.path, in_file);
  if (variable) return VariableText(*variable);
  return fmt::format("a global of {} (+{:#x})",
                     std::filesystem::path(module.path).filename().string(), in_file);
}

// The program's own thread-locals are right below the thread pointer. Only the dynamic linker knows
// where those of a library are.
std::string RootNamer::ThreadLocalText(const FrozenThread& thread, std::uint64_t address) const {
  const std::string of_thread = fmt::format("a thread-local of {}", ThreadText(thread.tid));
  const MappedModule* const program = modules_.empty() ? nullptr : Program();
  if (program == nullptr || address >= thread.thread_pointer) return of_thread;
  const std::uint64_t from_end = thread.thread_pointer - address;
  if (from_end > program->thread_local_end) return of_thread;
  const std::optional<Variable> variable =
      variables_.ThreadLocalAt(program->path, program->thread_local_end - from_end);
  return variable ? fmt::format("{}, {}", VariableText(*variable), of_thread) : of_thread;
}

// Returns the program among the modules: the first one that has thread-locals and is no library.
// The first module of all may be the dynamic linker, if that was started by hand. A wrong answer
// costs only a name.
const MappedModule* RootNamer::Program() const {
  const auto program =
      std::find_if(modules_.begin(), modules_.end(), [](const MappedModule& module) {
        return module.thread_local_end != 0 && module.path.find(".so") == std::string::npos;
      });
  return program != modules_.end() ? &*program : nullptr;
}

std::string RootNamer::MappingText(std::uint64_t address) const {
  const MappedRange* const range = FindRange(maps_, address);
  if (range == nullptr) return "memory that is gone";
  if (range->name.empty()) {
    return fmt::format("an anonymous mapping ({:#x}-{:#x})", range->begin, range->end);
  }
  return fmt::format("a mapping of {}", range->name);
}

std::string RootNamer::NameOf(const RootPlace& place) const {
  if (place.address == 0) return fmt::format("a register of {}", ThreadText(place.tid));
  for (const FrozenThread& thread : threads_) {
    if (thread.tid != place.tid) continue;
    if (ThreadLocalsOf(thread, modules_).Has(place.address)) {
      return ThreadLocalText(thread, place.address);
    }
    const bool is_stack = FindRange(maps_, place.address) == FindRange(maps_, thread.stack_pointer);
    if (is_stack) return fmt::format("the stack of {}", ThreadText(place.tid));
    return fmt::format("a block being reallocated by {}", ThreadText(place.tid));
  }
  for (const MappedModule& module : modules_) {
    if (AddressRange{module.begin, module.end}.Has(place.address)) {
      return GlobalText(module, place.address);
    }
  }
  return MappingText(place.address);
}

// Names the holders of blocks, and each root only once.
class Holders {
 public:
  Holders(const std::vector<LiveBlock>& blocks, const ReachMarker& marker, const RootNamer& namer)
      : blocks_(blocks), marker_(marker), namer_(namer) {}

  // Returns whether this is the first block of its stack for which it is called.
  bool IsFirstOfStack(std::uint32_t block) { return stacks_.insert(blocks_[block].stack).second; }

  HolderChain Of(std::uint32_t block) {
    const BlockChain chain = marker_.ChainTo(block, kMostHolderLinks);
    const auto [name, is_new] = names_.try_emplace({chain.root.address, chain.root.tid});
    if (is_new) name->second = namer_.NameOf(chain.root);
    HolderChain holder{.root = name->second, .hidden = chain.hidden};
    for (const std::uint32_t link : chain.links) holder.links.push_back(blocks_[link]);
    return holder;
  }

 private:
  const std::vector<LiveBlock>& blocks_;
  const ReachMarker& marker_;
  const RootNamer& namer_;
  std::map<std::pair<std::uint64_t, int>, std::string> names_;
  std::set<std::uint32_t> stacks_;
};

// Returns the reach of all candidates; `conclusion` has that of those that are live.
std::vector<BlockReach> ReachOf(const std::vector<std::uint32_t>& numbers,
                                const std::vector<Reach>& conclusion, HolderWish wish,
                                Holders& holders) {
  std::vector<BlockReach> reaches(numbers.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] == BlockIndex::kNone) continue;
    reaches[i].reach = conclusion[next++];
    const bool is_wanted = wish == HolderWish::kTell && reaches[i].reach == Reach::kRetained;
    if (is_wanted && holders.IsFirstOfStack(numbers[i])) reaches[i].holder = holders.Of(numbers[i]);
  }
  return reaches;
}

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

Expected<std::vector<BlockReach>> LookAtProcess(const ReachRequest& request) {
  Expected<FrozenProcess> process = FrozenProcess::Freeze(request.pid);
  if (!process) return Unexpected(process.error());
  const Expected<HeapCopy> heap = request.region.CopyHeap();
  if (!heap) return Unexpected(heap.error());
  const Expected<std::vector<MappedRange>> maps = ReadMaps(request.pid);
  if (!maps) return Unexpected(maps.error());

  const std::vector<FrozenThread> threads = SkipRedZoneOf(request.asking_tid, process->threads());
  ProcessMemory memory(request.pid);
  const Expected<void> is_short = RequireShortLook(request.pid, *maps, memory);
  if (!is_short) return Unexpected(is_short.error());
  const std::vector<std::uint32_t> numbers = NumbersOf(request.candidates, heap->blocks);
  std::vector<std::uint32_t> live = numbers;
  std::erase(live, BlockIndex::kNone);
  ReachMarker marker(
      heap->blocks, std::move(live),
      [&memory](std::uint64_t begin, std::uint64_t end) { return memory.At(begin, end); });
  const std::vector<MappedModule> modules = FindModules(*maps, memory);
  const std::vector<OwnRange> own_ranges = request.region.OwnRanges();
  const std::vector<ReallocatedCopy> reallocated = request.region.ReallocatedBlocks();
  const std::vector<RootRange> roots =
      FindRoots({*maps, modules, threads, *heap, own_ranges, reallocated, memory});
  MarkFrom(roots, threads, memory, marker);
  const std::vector<Reach> conclusion = marker.Conclude();
  process->Thaw();

  const RootNamer namer(*maps, modules, threads, request.variables);
  Holders holders(heap->blocks, marker, namer);
  return ReachOf(numbers, conclusion, request.holders, holders);
}

}  // namespace

Expected<std::vector<BlockReach>> FindReach(const ReachRequest& request) {
  return std::async(std::launch::async, [&] { return LookAtProcess(request); }).get();
}

}  // namespace leakgate
