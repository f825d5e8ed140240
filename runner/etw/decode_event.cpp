#include "runner/etw/decode_event.h"

#include <cstring>

namespace leakgate {
namespace {

// Other opcodes of the heap's: creation, growth, snapshots and shrinking of heaps, their locks,
// validation and walks.
constexpr std::uint8_t kCreateHeap = 0x20;
constexpr std::uint8_t kFirstOfWholeHeaps = 0x25;
constexpr std::uint8_t kLastOfWholeHeaps = 0x2e;

// Takes numbers off the front of a payload. After one that is not there, all are 0.
class PayloadReader {
 public:
  explicit PayloadReader(const TraceEvent& event)
      : rest_(event.payload), pointer_bytes_(event.pointer_bytes) {}

  std::uint64_t TakePointer() {
    return pointer_bytes_ == 8 ? Take<std::uint64_t>() : Take<std::uint32_t>();
  }
  template <typename Number>
  Number Take() {
    Number number = 0;
    if (rest_.size() < sizeof(number)) {
      is_cut_ = true;
      rest_ = {};
      return 0;
    }
    std::memcpy(&number, rest_.data(), sizeof(number));
    rest_ = rest_.subspan(sizeof(number));
    return number;
  }
  std::span<const std::byte> rest() const { return rest_; }
  bool is_cut() const { return is_cut_; }

 private:
  std::span<const std::byte> rest_;
  std::uint8_t pointer_bytes_;
  bool is_cut_ = false;
};

DecodedEvent DecodeHeapEvent(const TraceEvent& event) {
  HeapOperation operation = {
      .opcode = static_cast<HeapOpcode>(event.opcode), .thread = event.thread, .time = event.time};
  PayloadReader reader(event);
  operation.heap = reader.TakePointer();
  switch (operation.opcode) {
    case HeapOpcode::kAllocate:
      operation.size_bytes = reader.TakePointer();
      operation.address = reader.TakePointer();
      break;
    case HeapOpcode::kReallocate:
      operation.address = reader.TakePointer();
      operation.old_address = reader.TakePointer();
      operation.size_bytes = reader.TakePointer();
      reader.TakePointer();  // the old size
      break;
    case HeapOpcode::kFree:
      operation.address = reader.TakePointer();
      break;
    case HeapOpcode::kDestroyHeap:
      if (reader.is_cut()) return CutEvent();
      return operation;
    default:
      if (event.opcode == kCreateHeap ||
          (event.opcode >= kFirstOfWholeHeaps && event.opcode <= kLastOfWholeHeaps)) {
        return IgnoredEvent();
      }
      return UnknownEvent();
  }
  reader.Take<std::uint32_t>();  // which part of the heap did it
  if (reader.is_cut()) return CutEvent();
  return operation;
}

DecodedEvent DecodeStackEvent(const TraceEvent& event) {
  if (event.opcode != kStackOpcode) return UnknownEvent();
  PayloadReader reader(event);
  EventStack stack = {.pointer_bytes = event.pointer_bytes};
  stack.time = reader.Take<std::uint64_t>();
  stack.process = reader.Take<std::uint32_t>();
  stack.thread = reader.Take<std::uint32_t>();
  stack.frames = reader.rest();
  if (reader.is_cut() || stack.frames.size() % event.pointer_bytes != 0) return CutEvent();
  return stack;
}

}  // namespace

DecodedEvent DecodeEvent(const TraceEvent& event) {
  if (event.provider == kLossProvider) {
    if (event.opcode == kLostBufferOpcode) return LostBuffer();
    return LostEvent();
  }
  const bool is_heap = event.provider == kHeapProvider;
  if (!is_heap && event.provider != kStackProvider) return IgnoredEvent();
  if (event.pointer_bytes != 4 && event.pointer_bytes != 8) return UnknownEvent();
  return is_heap ? DecodeHeapEvent(event) : DecodeStackEvent(event);
}

}  // namespace leakgate
