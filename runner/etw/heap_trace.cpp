#include "runner/etw/heap_trace.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runner/etw/decode_event.h"

namespace leakgate {
namespace {

template <typename... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};
template <typename... Handlers>
Overloaded(Handlers...) -> Overloaded<Handlers...>;  // Clang 14 needs it

constexpr std::uint64_t kFirstKernelAddress = std::uint64_t{1} << 63U;

// Replaces `frames` by those of `stack` that are the program's: on its way into the kernel an
// event may pass through that, too. Behind the outermost frame there may be zeros.
void ReadFrames(const EventStack& stack, std::vector<std::uint64_t>& frames) {
  frames.clear();
  for (std::size_t at = 0; at < stack.frames.size(); at += stack.pointer_bytes) {
    std::uint64_t frame = 0;  // of a little-endian system, as this one is
    std::memcpy(&frame, stack.frames.data() + at, stack.pointer_bytes);
    if (frame != 0 && frame < kFirstKernelAddress) frames.push_back(frame);
  }
}

}  // namespace

void HeapTrace::Add(const TraceEvent& event) {
  const auto add_operation = [&](const HeapOperation& operation) {
    ++heap_events_;
    if (const auto next = order_.Push({.operation = operation})) Apply(*next);
  };
  // What another process does with its heaps is not asked for, and may come all the same.
  if (event.provider == kHeapProvider && event.process != process_) return;
  std::visit(Overloaded{[](const IgnoredEvent&) {}, add_operation,
                        [&](const EventStack& stack) { AddStack(stack); },
                        [&](const LostEvent&) { ++losses_.lost_events; },
                        [&](const LostBuffer&) { ++losses_.lost_buffers; },
                        [&](const CutEvent&) { ++losses_.cut_events; },
                        [&](const UnknownEvent&) { ++losses_.unknown_events; }},
             DecodeEvent(event));
}

void HeapTrace::Finish() {
  while (const auto next = order_.Pop()) Apply(*next);
  losses_.late_events = order_.late_events();
  losses_.blocks_without_stack =
      static_cast<std::uint64_t>(std::ranges::count_if(blocks_, [this](const auto& entry) {
        return !entry.second.block.stack && IsLive(entry.second);
      }));
}

std::vector<TracedBlock> HeapTrace::LiveBlocks() const {
  std::vector<TracedBlock> blocks;
  for (const auto& [address, kept] : blocks_) {
    if (IsLive(kept)) blocks.push_back(kept.block);
  }
  std::ranges::sort(blocks, {}, &TracedBlock::address);
  return blocks;
}

void HeapTrace::AddStack(const EventStack& stack) {
  if (stack.process != process_) return;
  ReadFrames(stack, frames_);
  if (frames_.empty()) return;  // the kernel's part alone
  const std::optional<std::uint32_t> number = stacks_.Keep(frames_);
  if (!number) {
    ++losses_.unkept_stacks;
    return;
  }
  const HeapOperation of = {.thread = stack.thread, .time = stack.time};
  if (const auto next = order_.Push({.operation = of, .stack = number})) Apply(*next);
}

void HeapTrace::Apply(const OrderedEvent& event) {
  ++applied_;
  if (event.stack) return JoinStack(event.operation, *event.stack);
  switch (event.operation.opcode) {
    case HeapOpcode::kAllocate:
      return Allocate(event.operation);
    case HeapOpcode::kReallocate:
      return Reallocate(event.operation);
    case HeapOpcode::kDestroyHeap:
      return DestroyHeap(event.operation.heap);
    case HeapOpcode::kFree:
      return Free(event.operation);
  }
}

void HeapTrace::Allocate(const HeapOperation& operation) {
  WaitForStack(operation);
  if (operation.address == 0) return;  // it failed
  if (const TracedBlock* const known = FindLive(operation.address)) {
    ++losses_.repeated_blocks;
    CountFreed(known->heap, known->size_bytes);
  }
  CountAllocated(operation.heap, operation.size_bytes);
  blocks_[operation.address] = {.block = {.address = operation.address,
                                          .size_bytes = operation.size_bytes,
                                          .heap = operation.heap,
                                          .time = operation.time,
                                          .thread = operation.thread,
                                          .stack = {}},
                                .number = applied_};
}

void HeapTrace::Reallocate(const HeapOperation& operation) {
  WaitForStack(operation);
  if (operation.address == 0) return;  // it failed
  TracedBlock* block = FindLive(operation.address);
  if (block == nullptr) {
    ++losses_.unknown_blocks;
  } else if (operation.address == operation.old_address) {
    CountFreed(block->heap, block->size_bytes);
    CountAllocated(block->heap, operation.size_bytes);
    block->size_bytes = operation.size_bytes;
    block->time = operation.time;
    block->thread = operation.thread;
    block->stack = std::nullopt;
  }
}

void HeapTrace::Free(const HeapOperation& operation) {
  if (operation.address == 0) return;
  const TracedBlock* const block = FindLive(operation.address);
  if (block == nullptr) {
    ++losses_.unknown_blocks;
    return;
  }
  CountFreed(block->heap, block->size_bytes);
  blocks_.erase(operation.address);
}

void HeapTrace::DestroyHeap(std::uint64_t heap) {
  Heap& destroyed = heaps_[heap];
  destroyed.destroyed = applied_;
  live_bytes_ -= std::exchange(destroyed.live_bytes, 0);
}

void HeapTrace::CountAllocated(std::uint64_t heap, std::uint64_t bytes) {
  allocated_ += AmountOf(bytes, 1);
  heaps_[heap].live_bytes += bytes;
  live_bytes_ += bytes;
  peak_bytes_ = std::max(peak_bytes_, live_bytes_);
}

void HeapTrace::CountFreed(std::uint64_t heap, std::uint64_t bytes) {
  heaps_[heap].live_bytes -= bytes;
  live_bytes_ -= bytes;
}

void HeapTrace::WaitForStack(const HeapOperation& operation) {
  Waiting& waiting = waiting_[operation.thread];
  if (waiting.time != operation.time) {
    waiting.time = operation.time;
    waiting.next = 0;
    waiting.addresses.clear();
  }
  waiting.addresses.push_back(operation.address);
}

void HeapTrace::JoinStack(const HeapOperation& of, std::uint32_t stack) {
  const auto found = waiting_.find(of.thread);
  if (found == waiting_.end() || found->second.time != of.time ||
      found->second.next == found->second.addresses.size()) {
    ++losses_.unjoined_stacks;
    return;
  }
  Waiting& waiting = found->second;
  TracedBlock* block = FindLive(waiting.addresses[waiting.next++]);
  if (block != nullptr && block->time == of.time && block->thread == of.thread) {
    block->stack = stack;
  }
}

bool HeapTrace::IsLive(const Kept& kept) const {
  const auto heap = heaps_.find(kept.block.heap);
  return heap == heaps_.end() || heap->second.destroyed < kept.number;
}

TracedBlock* HeapTrace::FindLive(std::uint64_t address) {
  const auto found = blocks_.find(address);
  return found != blocks_.end() && IsLive(found->second) ? &found->second.block : nullptr;
}

}  // namespace leakgate
