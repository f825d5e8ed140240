#include "runner/snapshot/view/block_stream.h"

#include <fmt/format.h>

#include <numeric>
#include <tuple>
#include <utility>

#include "runner/snapshot/file/read_snapshot.h"

namespace leakgate {
namespace {

// Makes `visitor` keep modules, windows and threads in `contents`, which must outlive it.
void KeepNamedThings(SnapshotVisitor& visitor, SnapshotContents& contents) {
  visitor.module = [&](SnapshotModule&& module) {
    contents.modules[module.id] = std::move(module);
  };
  visitor.window = [&](SnapshotWindow&& window) {
    contents.windows[window.id] = std::move(window);
  };
  visitor.thread = [&](SnapshotThread&& thread) {
    contents.threads[thread.id] = std::move(thread);
  };
  visitor.symbols = [&](SnapshotSymbols&& symbols) {
    contents.symbols[{symbols.module, symbols.pc}] = std::move(symbols.frames);
  };
  visitor.symbol_problem = [&](SnapshotSymbolProblem&& problem) {
    contents.symbol_problems[problem.module] = std::move(problem.problem);
  };
}

}  // namespace

Expected<void> ReadContents(
    const SnapshotSource& source, const std::string& name, SnapshotContents& contents,
    const std::function<Expected<void>(std::span<const LiveBlock> blocks)>& use) {
  contents.file = name;
  contents.nodes.assign(kStackRootCount, {});
  SnapshotVisitor visitor;
  KeepNamedThings(visitor, contents);
  visitor.facts = [&](SnapshotFacts&& facts) { contents.facts = std::move(facts); };
  visitor.nodes = [&](std::span<const SnapshotNode> nodes) {
    contents.nodes.insert(contents.nodes.end(), nodes.begin(), nodes.end());
  };
  visitor.blocks = use;
  visitor.mapping = [&](SnapshotMapping&& mapping) { contents.mappings.push_back(mapping); };
  visitor.frees = [&](SnapshotFrees&& frees) { contents.frees.push_back(frees); };
  visitor.pages = [&](SnapshotPages&& pages) { contents.pages = std::move(pages); };
  visitor.closing = [&](SnapshotClosing&& closing) { contents.closing = closing; };
  return source(visitor);
}

std::string BuildIdOfImage(const SnapshotContents& contents) {
  for (const auto& [id, module] : contents.modules) {
    if (module.module.path == contents.facts.image) return module.module.build_id;
  }
  return "";
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

Expected<OpenedSnapshot> OpenSnapshot(const std::filesystem::path& path) {
  LEAKGATE_TRY_ASSIGN(SnapshotReader reader, SnapshotReader::Open(path));
  OpenedSnapshot file{std::move(reader), {}};
  SnapshotVisitor visitor;
  visitor.facts = [&](SnapshotFacts&& facts) { file.facts = std::move(facts); };
  LEAKGATE_TRY_ASSIGN([[maybe_unused]] const bool has_part, file.reader.ReadPart(visitor));
  return file;
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
  visitor_.allocations = [this](SnapshotAllocations&& allocations) {
    allocations.stack = stacks_.Of(allocations.stack);
    allocations_.push_back(allocations);
  };
  visitor_.pages = [this](SnapshotPages&& pages) { pages_ = std::move(pages); };
  visitor_.closing = [this](SnapshotClosing&& closing) { closing_ = closing; };
  if (contents != nullptr) KeepNamedThings(visitor_, *contents);
}

Expected<void> BlockStream::Fill() {
  while (at_ == blocks_.size()) {
    blocks_.clear();
    at_ = 0;
    LEAKGATE_TRY_ASSIGN(const bool read, reader_.ReadPart(visitor_));
    if (!read) break;
  }
  return {};
}

}  // namespace leakgate
