// Reads a snapshot file in one pass, in memory that does not grow with it.
//
// The file is not trusted: each part is proved by its checksum, and each value checked,
// before it is handed on. So what a visitor is given is of one piece: ids are below the
// region's limits, each stands for something given before, blocks are in order.
#pragma once

#include <filesystem>
#include <functional>
#include <istream>
#include <memory>
#include <span>
#include <string>

#include "runner/base/expected.h"
#include "runner/region/live_block.h"
#include "runner/snapshot/file/snapshot_facts.h"

namespace leakgate {

// What to do with each thing, in the order of the file: the facts first, the closing last;
// whatever something refers to before it. Any may be empty.
struct SnapshotVisitor {
  std::function<void(SnapshotFacts&& facts)> facts;
  std::function<void(SnapshotModule&& module)> module;
  std::function<void(SnapshotWindow&& window)> window;
  std::function<void(SnapshotThread&& thread)> thread;
  // Their ids go on from the last one's; the first one's is kStackRootCount.
  std::function<void(std::span<const SnapshotNode> nodes)> nodes;
  // By address. An error ends the reading.
  std::function<Expected<void>(std::span<const LiveBlock> blocks)> blocks;
  std::function<void(SnapshotMapping&& mapping)> mapping;
  std::function<void(SnapshotFrees&& frees)> frees;
  std::function<void(SnapshotClosing&& closing)> closing;
};

// A file that is read part by part, as two must be that are compared.
class SnapshotReader {
 public:
  // A usage error names the file and what is wrong with it, as from the others.
  [[nodiscard]] static Expected<SnapshotReader> Open(const std::filesystem::path& path);
  // Of what `in` holds, which outlives this; `name` stands for it in errors.
  SnapshotReader(std::istream& in, const std::string& name);
  ~SnapshotReader();
  SnapshotReader(SnapshotReader&&) noexcept;
  SnapshotReader& operator=(SnapshotReader&&) noexcept;

  // Hands on what the next part holds. False: all has been read, and was whole.
  [[nodiscard]] Expected<bool> ReadPart(const SnapshotVisitor& visitor);

 private:
  class Checks;

  std::unique_ptr<std::istream> file_;  // if it is ours
  std::unique_ptr<Checks> checks_;
};

// All of it. What was handed on before an error is of no use.
[[nodiscard]] Expected<void> ReadSnapshot(const std::filesystem::path& path,
                                          const SnapshotVisitor& visitor);

// The same of what `in` holds; `name` stands for it in errors.
[[nodiscard]] Expected<void> ReadSnapshot(std::istream& in, const std::string& name,
                                          const SnapshotVisitor& visitor);

}  // namespace leakgate
