// Makes events of Windows' heap tracing, as the system lays them out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "runner/etw/trace_event.h"

namespace leakgate::test {

// An event with its payload.
struct MadeEvent {
  TraceEvent event;
  std::vector<std::byte> payload;

  // Valid as long as this.
  TraceEvent Get() const {
    TraceEvent whole = event;
    whole.payload = payload;
    return whole;
  }
};

class EventMaker {
 public:
  explicit EventMaker(std::uint32_t process, std::uint8_t pointer_bytes = 8)
      : process_(process), pointer_bytes_(pointer_bytes) {}

  std::uint32_t thread = 5;

  MadeEvent Allocate(std::uint64_t time, std::uint64_t address, std::uint64_t bytes,
                     std::uint64_t heap = 0x10000) const {
    return Heap(0x21, time, {heap, bytes, address}, true);
  }
  MadeEvent Reallocate(std::uint64_t time, std::uint64_t address, std::uint64_t old_address,
                       std::uint64_t bytes, std::uint64_t heap = 0x10000) const {
    return Heap(0x22, time, {heap, address, old_address, bytes, 1}, true);
  }
  MadeEvent DestroyHeap(std::uint64_t time, std::uint64_t heap) const {
    return Heap(0x23, time, {heap}, false);
  }
  MadeEvent Free(std::uint64_t time, std::uint64_t address, std::uint64_t heap = 0x10000) const {
    return Heap(0x24, time, {heap, address}, true);
  }
  // The stack of what `thread` did at `time`; it comes a little later.
  MadeEvent Stack(std::uint64_t time, std::initializer_list<std::uint64_t> frames) const {
    return Stack(time, std::span(frames.begin(), frames.size()));
  }
  MadeEvent Stack(std::uint64_t time, std::span<const std::uint64_t> frames) const {
    MadeEvent made = Make(kStackProvider, 32, time + 1);
    Append(made, time, 8);
    Append(made, process_, 4);
    Append(made, thread, 4);
    for (const std::uint64_t frame : frames) Append(made, frame, pointer_bytes_);
    return made;
  }
  MadeEvent Make(const EventProvider& provider, std::uint8_t opcode, std::uint64_t time) const {
    return {.event = {.provider = provider,
                      .opcode = opcode,
                      .pointer_bytes = pointer_bytes_,
                      .process = process_,
                      .thread = thread,
                      .time = time,
                      .payload = {}},
            .payload = {}};
  }

 private:
  MadeEvent Heap(std::uint8_t opcode, std::uint64_t time,
                 std::initializer_list<std::uint64_t> pointers, bool has_source) const {
    MadeEvent made = Make(kHeapProvider, opcode, time);
    for (const std::uint64_t pointer : pointers) Append(made, pointer, pointer_bytes_);
    if (has_source) Append(made, 2, 4);
    return made;
  }
  static void Append(MadeEvent& made, std::uint64_t number, std::size_t bytes) {
    for (std::size_t byte = 0; byte < bytes; ++byte) {
      made.payload.push_back(static_cast<std::byte>(number >> (8 * byte)));
    }
  }

  std::uint32_t process_;
  std::uint8_t pointer_bytes_;
};

}  // namespace leakgate::test
