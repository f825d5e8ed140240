// Fills a region in the agent's place, for a process that has no agent: what its blocks are is
// known from elsewhere, such as the system's own heap tracing. So whatever reads regions judges,
// looks and reports as for any other process.
//
// There is one window, the program's, which stays open. One thread; readers may read meanwhile.
// What has no room is counted as a drop, and the process' verdicts are inconclusive.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "runner/base/descriptors.h"
#include "runner/base/expected.h"
#include "runner/region/region_copies.h"

namespace leakgate {

class RegionWriter {
 public:
  // Begins the program's window. REQUIRES: `region` is new.
  [[nodiscard]] static Expected<RegionWriter> Open(const UniqueFd& region);

  // Each of these returns an id of the region; 0 if there is no room. The same thread and the same
  // stack have one id each.
  [[nodiscard]] std::uint32_t AddModule(const Module& module);
  [[nodiscard]] std::uint32_t AddContext(int tid);  // of the window and this thread
  [[nodiscard]] std::uint32_t AddStack(std::span<const RawStack::Frame> frames, UnwindEnd end);

  struct Block {
    std::uint64_t address = 0;
    std::uint64_t size_bytes = 0;
    AllocationKind kind = AllocationKind::kMalloc;
    std::uint32_t stack = 0;
    std::uint32_t context = 0;
  };
  // REQUIRES: no live block is there.
  void AddBlock(const Block& block);
  void RemoveBlock(std::uint64_t address);

  // What the process has allocated and freed in all, and how many bytes were live at most.
  void SetTotals(const Amount& allocated, const Amount& freed, std::uint64_t peak_bytes);
  void SetEnd(ProgramEnd end);

 private:
  using Word = std::atomic<std::uint32_t>;
  struct Node {
    std::uint64_t pc;
    std::uint32_t parent;
    std::uint32_t module;
    bool operator==(const Node&) const = default;
  };
  struct NodeHash {
    std::size_t operator()(const Node& node) const;
  };

  explicit RegionWriter(Mapping memory) : memory_(std::move(memory)) {}

  template <typename T>
  T* At(std::uint64_t offset) const {
    return reinterpret_cast<T*>(memory_.data() + offset);
  }
  RegionHeader& Header() const { return *At<RegionHeader>(0); }
  void BeginWindow();
  // Makes memory of what the region has at `offset`, if there is none yet. False if it cannot.
  [[nodiscard]] bool MakeRoom(std::uint64_t offset, std::size_t bytes);
  [[nodiscard]] bool HasRoom(std::uint64_t offset) const {
    return rooms_.contains(offset / kMappingAlignment);
  }
  void Drop(DropReason reason) const;
  void NoteTouched(std::uint64_t offset) const;
  [[nodiscard]] std::uint32_t AddNode(const Node& node);
  // Where the entry of its chunk is. REQUIRES: `address` is one that the map can hold.
  static std::uint64_t EntryOf(std::uint64_t address) {
    return region_offset::kDirectory + (address >> kChunkShift) * sizeof(Word);
  }
  // Returns where the words of a block are in the region; 0 if there is no chunk for them.
  [[nodiscard]] std::uint64_t FindSlot(std::uint64_t address) const;
  [[nodiscard]] std::uint64_t MakeSlot(std::uint64_t address);
  [[nodiscard]] bool AddChunk(std::uint64_t address);

  std::unordered_set<std::uint64_t> rooms_;  // pieces of kMappingAlignment bytes
  Mapping memory_;  // of the tables and all chunks: little of it is touched
  std::unordered_map<Node, std::uint32_t, NodeHash> nodes_;
  std::unordered_map<int, std::uint32_t> contexts_;  // by thread
};

// Makes memory of [at, at + bytes), which is a mapping of a region's. Returns false if there is
// none.
[[nodiscard]] bool MakeRoomInRegion(std::byte* at, std::size_t bytes);

}  // namespace leakgate
