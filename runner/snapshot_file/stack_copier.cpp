#include "runner/snapshot_file/stack_copier.h"

#include <algorithm>
#include <utility>

#include "runner/snapshot_file/linux/file_state.h"

namespace leakgate {
namespace {

constexpr auto kCut = static_cast<std::uint32_t>(UnwindEnd::kTableFull);

}  // namespace

StackCopier::StackCopier(const RegionReader& region, SnapshotWriter& writer)
    : region_(region), writer_(writer), modules_(kMaxModules) {}

// From the stack outwards to what is in the file already, then back again: a frame's caller
// comes before it.
std::uint32_t StackCopier::CopyNew(std::uint32_t id) {
  std::vector<std::pair<std::uint32_t, StackNodeCopy>> path;
  std::uint32_t parent = kCut;
  for (std::uint32_t at = id; path.size() < kMaxStackDepth;) {
    if (at < kStackRootCount) {
      parent = at < kUnwindEndCount ? at : kCut;
      break;
    }
    if (at < copied_.size() && copied_[at] != 0) {
      parent = copied_[at];
      break;
    }
    const std::optional<StackNodeCopy> node = region_.Node(at);
    if (!node) break;
    path.emplace_back(at, *node);
    at = node->parent;
  }
  for (auto step = path.rbegin(); step != path.rend(); ++step) {
    const auto& [number, node] = *step;
    if (number >= copied_.size())
      copied_.resize(std::max<std::size_t>(number + 1, 2 * copied_.size()));
    parent = copied_[number] = writer_.Add(SnapshotNode{node.pc, parent, Module(node.module)});
  }
  return parent;
}

std::uint32_t StackCopier::Module(std::uint32_t id) {
  if (id == 0 || id >= kMaxModules) return 0;
  if (modules_[id]) return id;
  SnapshotModule module{.id = id, .module = region_.ModuleOf(id)};
  if (module.module.end == 0) return 0;
  if (module.module.build_id.empty()) {
    const FileState state = StateOfFile(module.module.path);
    module.file_bytes = state.bytes;
    module.file_modified_ns = state.modified_ns;
  }
  modules_[id] = true;
  writer_.Add(module);
  return id;
}

}  // namespace leakgate
