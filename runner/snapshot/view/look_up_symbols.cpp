#include "runner/snapshot/view/look_up_symbols.h"

#include <set>

#include "runner/snapshot/view/stack_frames.h"

namespace leakgate {
namespace {

// Longer names are cut off, as a file has no room for them.
std::string Cut(const std::string& text) { return text.substr(0, 60'000); }

KnownFrame KnownOf(const Frame& frame) {
  return {.function = Cut(frame.function),
          .file = Cut(frame.file),
          .line = static_cast<std::uint32_t>(std::max(frame.line, 0)),
          .is_inlined = frame.inlined,
          .called_function = Cut(frame.called_function),
          .calls_through_pointer = frame.calls_through_pointer,
          .wrapper = static_cast<std::uint32_t>(frame.wrapper)};
}

}  // namespace

SymbolsToAdd LookUpSymbols(const SnapshotContents& contents, Symbolizer& symbolizer) {
  constexpr std::size_t kMostFrames = 1000;
  StackFrames frames(contents, symbolizer);
  SymbolsToAdd found;
  std::set<std::pair<std::uint32_t, std::uint64_t>> known;
  for (std::uint32_t node = kStackRootCount; node < contents.nodes.size(); ++node) {
    const SnapshotNode& it = contents.nodes[node];
    if (!contents.modules.contains(it.module) || !known.insert({it.module, it.pc}).second) continue;
    SnapshotSymbols& symbols = found.symbols.emplace_back();
    symbols.module = it.module;
    symbols.pc = it.pc;
    for (const FrameId frame : frames.FramesAt(node)) {
      if (symbols.frames.size() < kMostFrames) symbols.frames.push_back(KnownOf(frames.Get(frame)));
    }
  }
  for (const auto& [module, problem] : frames.problems()) {
    found.problems.push_back({module, problem});
  }
  return found;
}

}  // namespace leakgate
