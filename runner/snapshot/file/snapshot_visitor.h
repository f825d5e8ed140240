// The receiver of the content of a snapshot file, piece by piece (read_snapshot.h).
#pragma once

#include <functional>
#include <span>

#include "runner/base/expected.h"
#include "runner/region/region_copies.h"
#include "runner/snapshot/file/snapshot_facts.h"

namespace leakgate {

// The functions that are called with each thing of the file, in its order: the facts come
// first, the closing last, and what a thing refers to comes before it. Any may be empty.
struct SnapshotVisitor {
  std::function<void(SnapshotFacts&& facts)> facts;
  std::function<void(SnapshotModule&& module)> module;
  std::function<void(SnapshotWindow&& window)> window;
  std::function<void(SnapshotThread&& thread)> thread;
  // Ids are consecutive, from kStackRootCount on.
  std::function<void(std::span<const SnapshotNode> nodes)> nodes;
  // The blocks are sorted by address. An error ends the reading.
  std::function<Expected<void>(std::span<const LiveBlock> blocks)> blocks;
  std::function<void(SnapshotMapping&& mapping)> mapping;
  std::function<void(SnapshotFrees&& frees)> frees;
  std::function<void(SnapshotAllocations&& allocations)> allocations;
  std::function<void(SnapshotPages&& pages)> pages;  // of all mappings; earlier files have none
  std::function<void(SnapshotSymbols&& symbols)> symbols;
  std::function<void(SnapshotSymbolProblem&& problem)> symbol_problem;
  std::function<void(SnapshotClosing&& closing)> closing;
};

}  // namespace leakgate
