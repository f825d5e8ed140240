#include "runner/snapshot/view/block_stream.h"

#include <fmt/format.h>

#include <numeric>
#include <tuple>
#include <utility>

#include "runner/snapshot/file/read_snapshot.h"

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

std::uint32_t CommonStacks::IdOf(const SnapshotNode& node) {
  const auto [known, is_new] = ids_.try_emplace(node, static_cast<std::uint32_t>(nodes_.size()));
  if (is_new) nodes_.push_back(node);
  return known->second;
}

CommonStacks::Translation::Translation(CommonStacks& common)
    : common_(common), ids_(kStackRootCount) {
  std::iota(ids_.begin(), ids_.end(), 0U);
}

void CommonStacks::Translation::Add(std::span<const SnapshotNode> nodes) {
  for (const SnapshotNode& node : nodes) {
    ids_.push_back(common_.IdOf({node.pc, ids_[node.parent], node.module}));
  }
}

Expected<SnapshotFacts> ReadFacts(SnapshotReader& reader) {
  SnapshotFacts facts;
  SnapshotVisitor visitor;
  visitor.facts = [&](SnapshotFacts&& read) { facts = std::move(read); };
  const Expected<bool> read = reader.ReadPart(visitor);
  if (!read) return Unexpected(read.error());
  return facts;
}

bool AreOneBlock(const LiveBlock& a, const LiveBlock& b) {
  return std::tie(a.address, a.size_bytes, a.kind, a.stack, a.window, a.thread) ==
         std::tie(b.address, b.size_bytes, b.kind, b.stack, b.window, b.thread);
}

BlockStream::BlockStream(SnapshotReader reader, CommonStacks& stacks, SnapshotContents* contents)
    : reader_(std::move(reader)), stacks_(stacks) {
  visitor_.nodes = [this](std::span<const SnapshotNode> nodes) { stacks_.Add(nodes); };
  visitor_.blocks = [this](std::span<const LiveBlock> blocks) {
    blocks_.assign(blocks.begin(), blocks.end());
    for (LiveBlock& block : blocks_) block.stack = stacks_.Of(block.stack);
    return Expected<void>();
  };
  visitor_.mapping = [this](SnapshotMapping&& mapping) {
    mapping.stack = stacks_.Of(mapping.stack);
    mappings_.push_back(std::move(mapping));
  };
  visitor_.closing = [this](SnapshotClosing&& closing) { closing_ = closing; };
  if (contents == nullptr) return;
  visitor_.module = [contents](SnapshotModule&& module) {
    contents->modules[module.id] = std::move(module);
  };
  visitor_.window = [contents](SnapshotWindow&& window) {
    contents->windows[window.id] = std::move(window);
  };
  visitor_.thread = [contents](SnapshotThread&& thread) {
    contents->threads[thread.id] = std::move(thread);
  };
}

Expected<void> BlockStream::Fill() {
  while (at_ == blocks_.size()) {
    blocks_.clear();
    at_ = 0;
    const Expected<bool> read = reader_.ReadPart(visitor_);
    if (!read) return Unexpected(read.error());
    if (!*read) break;
  }
  return {};
}

}  // namespace leakgate
