// Checks what the parts of a snapshot file or a recording hold, and passes it to a visitor: ids are
// below the region's limits and name things that came before.
//
// Internal to this folder and to runner/recording/file.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "runner/base/expected.h"
#include "runner/snapshot/file/parts.h"
#include "runner/snapshot/file/snapshot_visitor.h"

namespace leakgate::snapshot_format {

inline constexpr const char* kDamagedRecord = "a record is damaged";

// The ids that the file has defined so far. They are below a limit.
class KnownIds {
 public:
  explicit KnownIds(std::uint32_t limit) : limit_(limit) {}

  // Returns false if the id is too large, or known already.
  bool Add(std::uint32_t id) {
    if (id == 0 || id >= limit_ || Has(id)) return false;
    if (id >= known_.size()) known_.resize(id + 1);
    return known_[id] = true;
  }
  bool Has(std::uint32_t id) const { return id < known_.size() && known_[id]; }
  bool HasOrNone(std::uint32_t id) const { return id == 0 || Has(id); }

 private:
  std::uint32_t limit_;
  std::vector<bool> known_;
};

class RecordChecks {
 public:
  // Errors are those of `parts`, which must outlive it.
  explicit RecordChecks(const PartReader& parts) : parts_(parts) {}

  // Uses a part of records. Does nothing with a part of another kind.
  [[nodiscard]] Expected<void> Use(const Part& part, const SnapshotVisitor& visit);

  // Whether the blocks and mappings are as many as the closing says.
  [[nodiscard]] bool Fit(const SnapshotClosing& closing) const {
    return closing.blocks == blocks_read_ && closing.bytes == bytes_ &&
           closing.mappings == mappings_;
  }
  [[nodiscard]] bool has_facts() const { return has_facts_; }
  [[nodiscard]] bool IsStack(std::uint32_t id) const { return id < next_node_; }
  [[nodiscard]] const KnownIds& windows() const { return windows_; }
  [[nodiscard]] const KnownIds& threads() const { return threads_; }

 private:
  enum class Meaning { kBegin, kEnd };

  Expected<void> UseFacts(std::string_view plain, const SnapshotVisitor& visit);
  template <typename Record, typename Visit>
  Expected<void> UseRecords(std::string_view plain, const Visit& visit, Meaning meaning);
  Expected<void> UseNodes(std::string_view plain, const SnapshotVisitor& visit);
  Expected<void> UseBlocks(std::string_view plain, const SnapshotVisitor& visit);
  bool Accept(const SnapshotModule& module, Meaning meaning);
  bool Accept(const SnapshotWindow& window, Meaning meaning);
  bool Accept(const SnapshotThread& thread, Meaning meaning);
  bool Accept(const SnapshotMapping& mapping, Meaning meaning);
  bool Accept(const SnapshotFrees& frees, Meaning meaning);
  bool Accept(const SnapshotAllocations& allocations, Meaning meaning);
  bool Accept(const SnapshotSymbols& symbols, Meaning meaning);
  bool Accept(const SnapshotSymbolProblem& problem, Meaning meaning);
  Expected<void> UsePages(std::string_view plain, const SnapshotVisitor& visit);
  bool Fits(const LiveBlock& block);

  const PartReader& parts_;
  bool has_facts_ = false;
  KnownIds modules_{kMaxModules};
  KnownIds windows_{kMaxWindows};
  KnownIds threads_{kMaxThreads};
  std::uint32_t next_node_ = kStackRootCount;
  std::vector<LiveBlock> blocks_;
  std::uint64_t last_address_ = 0;
  std::uint64_t blocks_read_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t mappings_ = 0;
  std::uint64_t mapping_bytes_ = 0;
  // Tallies of stacks: how many there are, and their sums.
  struct Tallies {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0;
  };
  template <typename Record>
  bool Fits(const Record& tally, Tallies& all);

  Tallies frees_;
  Tallies allocations_;
  std::uint64_t symbols_ = 0;
  TextRoom text_;
};

}  // namespace leakgate::snapshot_format
