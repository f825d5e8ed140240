// Copies from a region into a file what blocks and events refer to, when it is first needed: call
// stacks, modules, windows and threads.
//
// One thread at a time. The region is not trusted: each value is copied once and checked.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "runner/region/region_reader.h"
#include "runner/snapshot/file/record_writer.h"

namespace leakgate {

// Returns the name of a thread that has not ended. If it is empty, they have no names.
using ThreadNames = std::function<std::string(int tid)>;

class RegionRecords {
 public:
  // All must outlive it.
  RegionRecords(const RegionReader& region, const ThreadNames& thread_name, RecordWriter& writer);

  // Returns the id in the file of the region's stack `id`. Each frame is copied once. A stack that
  // the process has overwritten, or made while the file was written, ends early, like one for
  // which the table was full.
  [[nodiscard]] std::uint32_t Stack(std::uint32_t id) {
    const std::uint32_t known = id < stacks_.size() ? stacks_[id] : 0;
    return known != 0 ? known : CopyStack(id);
  }
  // Returns the id of the window or thread in the file; 0 if there is no such one.
  [[nodiscard]] std::uint32_t Window(std::uint32_t id) {
    return HasWindow(id) ? id : CopyWindow(id);
  }
  [[nodiscard]] std::uint32_t Thread(std::uint32_t id) {
    return HasThread(id) ? id : CopyThread(id);
  }

  // These write blocks, mappings and frees, each after what it refers to.
  [[nodiscard]] Expected<void> Add(std::span<const LiveBlock> blocks);
  void Add(const MappingCopy& mapping, const MappingPages& pages = {});
  void Add(const FreedByCopy& freed);
  void AddAllocated(const FreedByCopy& allocated);

  // Writes how the copied windows and threads have ended so far.
  void AddEnds();

  // How often a window, a module or an end was left out, because their names take more than a
  // reader has room for.
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

 private:
  // Half of a reader's room: the rest of the records takes less than the other half.
  static constexpr std::uint64_t kMostCopiedText = snapshot_format::kMostTextInAll / 2;

  [[nodiscard]] bool HasWindow(std::uint32_t id) const {
    return id < windows_.size() && windows_[id];
  }
  [[nodiscard]] bool HasThread(std::uint32_t id) const {
    return id < threads_.size() && threads_[id];
  }
  [[nodiscard]] bool HasRoom(snapshot_format::TextRoom& room, std::uint64_t bytes);
  std::uint32_t LeaveOut() {
    ++left_out_;
    return 0;
  }
  // These return the present content of the region. REQUIRES: there is such a window, or thread.
  [[nodiscard]] SnapshotWindow WindowNow(std::uint32_t id);
  [[nodiscard]] SnapshotThread ThreadNow(std::uint32_t id);
  // Returns `id` and what encloses it, the outermost first, except for what is already known.
  // Returns nothing if `id` does not exist.
  template <typename ParentOf>
  static std::vector<std::uint32_t> WithParents(std::uint32_t id, const std::vector<bool>& known,
                                                ParentOf parent_of);
  std::uint32_t CopyWindow(std::uint32_t id);
  std::uint32_t CopyThread(std::uint32_t id);
  std::uint32_t CopyStack(std::uint32_t id);
  std::uint32_t Module(std::uint32_t id);

  const RegionReader& region_;
  const ThreadNames& thread_name_;
  RecordWriter& writer_;
  std::vector<std::uint32_t> stacks_;  // by the region's id; 0: not yet
  std::vector<bool> modules_;
  std::vector<bool> windows_;
  std::vector<bool> threads_;
  std::uint64_t bytes_ = 0;
  snapshot_format::TextRoom room_{kMostCopiedText};
  std::uint64_t left_out_ = 0;
  SnapshotFrees freed_;
  SnapshotFrees allocated_;
};

}  // namespace leakgate
