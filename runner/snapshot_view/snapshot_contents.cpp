#include "runner/snapshot_view/snapshot_contents.h"

#include <fmt/format.h>

#include <utility>

#include "runner/snapshot_file/read_snapshot.h"

namespace leakgate {

Expected<void> ReadContents(
    const std::filesystem::path& path, SnapshotContents& contents,
    const std::function<Expected<void>(std::span<const LiveBlock> blocks)>& use) {
  contents.file = path.string();
  contents.nodes.assign(kStackRootCount, {});
  return ReadSnapshot(
      path,
      {.facts = [&](SnapshotFacts&& facts) { contents.facts = std::move(facts); },
       .module = [&](SnapshotModule&& module) { contents.modules[module.id] = std::move(module); },
       .window = [&](SnapshotWindow&& window) { contents.windows[window.id] = std::move(window); },
       .thread = [&](SnapshotThread&& thread) { contents.threads[thread.id] = std::move(thread); },
       .nodes =
           [&](std::span<const SnapshotNode> nodes) {
             contents.nodes.insert(contents.nodes.end(), nodes.begin(), nodes.end());
           },
       .blocks = use,
       .mapping =
           [&](SnapshotMapping&& mapping) { contents.mappings.push_back(std::move(mapping)); },
       .frees = [&](SnapshotFrees&& frees) { contents.frees.push_back(frees); },
       .closing = [&](SnapshotClosing&& closing) { contents.closing = closing; }});
}

std::string NameOfWindow(const SnapshotContents& contents, std::uint32_t window) {
  const auto found = contents.windows.find(window);
  if (found == contents.windows.end()) return "an unknown window";
  const SnapshotWindow& it = found->second;
  if (it.kind == WindowKind::kProgram || it.kind == WindowKind::kProcess) return "the program";
  const std::string name = it.kind == WindowKind::kSuite ? "suite " + it.name : it.name;
  return it.iteration > 1 ? fmt::format("{} #{}", name, it.iteration) : name;
}

std::string NameOfThread(const SnapshotContents& contents, std::uint32_t thread) {
  const auto found = contents.threads.find(thread);
  if (found == contents.threads.end()) return "an unknown thread";
  const SnapshotThread& it = found->second;
  const std::string text = it.tid == contents.facts.pid ? std::string("the main thread")
                                                        : fmt::format("thread {}", it.tid);
  return it.name.empty() ? text : fmt::format("{} ({})", text, it.name);
}

}  // namespace leakgate
