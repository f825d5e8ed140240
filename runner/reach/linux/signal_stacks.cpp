#include "runner/reach/linux/signal_stacks.h"

#include <algorithm>

#include "runner/arch/pointer.h"

namespace leakgate {
namespace {

// The word with which glibc mangles stack pointers; 0 if it is not known.
std::uint64_t PointerGuard(std::span<const FrozenThread> threads, ProcessMemory& memory) {
  for (const FrozenThread& thread : threads) {
    const std::uint64_t address =
        thread.thread_pointer == 0 ? 0 : PointerGuardAt(thread.thread_pointer);
    if (address != 0) return memory.At(address, address + sizeof(std::uint64_t)).front();
  }
  return 0;
}

}  // namespace

std::vector<AddressRange> FindIdleSignalStacks(const std::vector<KeptRange>& kept,
                                               const std::vector<FrozenThread>& threads,
                                               const ProcessMemory& memory) {
  std::vector<AddressRange> idle;
  if (kept.size() <= kKeptSignalStacks) return idle;
  const KeptRange& notes = kept[kKeptSignalStacks];
  memory.ForEachPart({notes.begin, notes.end}, [&](std::uint64_t, Words words) {
    for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
      const AddressRange stack{words[i], words[i] + words[i + 1]};
      const bool is_used =
          std::any_of(threads.begin(), threads.end(), [&](const FrozenThread& thread) {
            return thread.stack_pointer == 0 || stack.Has(thread.stack_pointer);
          });
      if (stack.begin != 0 && stack.begin < stack.end && !is_used) idle.push_back(stack);
    }
  });
  return idle;
}

std::vector<AddressRange> StacksWithContexts(std::span<const AddressRange> stacks,
                                             const SavedPointerPlaces& places,
                                             ProcessMemory& memory) {
  const std::uint64_t guard = PointerGuard(places.threads, memory);
  std::vector<bool> has_context(stacks.size(), false);
  const auto note = [&](std::uint64_t address) {
    for (std::size_t i = 0; i < stacks.size(); ++i) {
      if (stacks[i].begin < address && address < stacks[i].end) has_context[i] = true;
    }
  };
  const auto read = [&](Words words) {
    for (const std::uint64_t word : words) {
      note(AddressIn(word));
      note(UnmangledPointer(word, guard));
    }
  };
  for (const RootRange& root : places.roots) {
    memory.ForEachPart(root.range, [&](std::uint64_t, Words words) { read(words); });
  }
  for (const LiveBlock& block : places.blocks) {
    const std::uint64_t end = (block.address + block.size_bytes) & ~(sizeof(std::uint64_t) - 1);
    for (std::uint64_t at = block.address; at < end;) {
      const Words words = memory.At(at, end);
      read(words);
      at += words.size() * sizeof(std::uint64_t);
    }
  }
  for (const FrozenThread& thread : places.threads) read(thread.registers);
  std::vector<AddressRange> found;
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    if (has_context[i]) found.push_back(stacks[i]);
  }
  return found;
}

}  // namespace leakgate
