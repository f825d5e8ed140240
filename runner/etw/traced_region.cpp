#include "runner/etw/traced_region.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

namespace leakgate {
namespace {

// Also of another case.
bool IsHeapsModule(std::string_view path) {
  constexpr std::string_view kName = "/ntdll.dll";
  if (path.size() < kName.size()) return false;
  const auto is_same = [](char letter, char wanted) {
    return letter == wanted || (letter >= 'A' && letter <= 'Z' && letter - 'A' + 'a' == wanted);
  };
  return std::equal(path.end() - static_cast<std::ptrdiff_t>(kName.size()), path.end(),
                    kName.begin(), is_same);
}

}  // namespace

void TracedRegion::Write(const HeapTrace& trace) {
  std::vector<TracedBlock> blocks = trace.LiveBlocks();
  std::vector<TracedBlock> gone;
  std::vector<TracedBlock> added;
  const auto is_before = [](const TracedBlock& a, const TracedBlock& b) {
    return std::pair(a.address, a.time) < std::pair(b.address, b.time);
  };
  std::set_difference(written_.begin(), written_.end(), blocks.begin(), blocks.end(),
                      std::back_inserter(gone), is_before);
  std::set_difference(blocks.begin(), blocks.end(), written_.begin(), written_.end(),
                      std::back_inserter(added), is_before);
  for (const TracedBlock& block : gone) writer_.RemoveBlock(block.address);
  for (const TracedBlock& block : added) {
    writer_.AddBlock({.address = block.address,
                      .size_bytes = block.size_bytes,
                      .kind = AllocationKind::kMalloc,
                      .stack = StackOf(trace, block),
                      .context = writer_.AddContext(static_cast<int>(block.thread))});
  }
  written_ = std::move(blocks);
  Amount live;
  for (const TracedBlock& block : written_) live += AmountOf(block.size_bytes, 1);
  writer_.SetTotals(trace.allocated(), trace.allocated() - live, trace.peak_bytes());
}

// A block without a stack is a loss, which the trace has counted.
std::uint32_t TracedRegion::StackOf(const HeapTrace& trace, const TracedBlock& block) {
  if (!block.stack) return writer_.AddStack({}, UnwindEnd::kNotTaken);
  const auto [known, is_new] = stacks_.try_emplace(
      std::pair(*block.stack, modules_.CountChanges(block.time)), std::uint32_t{0});
  if (!is_new) return known->second;
  std::vector<RawStack::Frame> frames;
  std::size_t of_heap = 0;
  for (const std::uint64_t pc : trace.Frames(*block.stack)) {
    // What is called last in a module may return to its end.
    const std::optional<std::size_t> module = modules_.Find(pc - 1, block.time);
    frames.push_back({pc, module ? IdOf(*module) : 0});
    const bool is_first = of_heap + 1 == frames.size();
    if (is_first && module && IsHeapsModule(modules_[*module].path)) ++of_heap;
  }
  if (of_heap == frames.size()) of_heap = 0;  // it is the system's own block
  constexpr std::size_t kMostFrames = 192;    // that the system records
  const UnwindEnd end =
      frames.size() < kMostFrames ? UnwindEnd::kOutermost : UnwindEnd::kDepthLimit;
  known->second = writer_.AddStack(std::span(frames).subspan(of_heap), end);
  return known->second;
}

std::uint32_t TracedRegion::IdOf(std::size_t module) {
  const auto [known, is_new] = ids_.try_emplace(module, 0);
  if (is_new) known->second = writer_.AddModule(modules_[module]);
  return known->second;
}

}  // namespace leakgate
