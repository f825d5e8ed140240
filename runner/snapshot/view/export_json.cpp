// Writes a snapshot as JSON, for scripts: each block has the number of its stack.
// docs/snapshots.md describes the keys. There are millions of blocks, so their text is written
// without a JSON value of each.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "runner/report/json/json_text.h"
#include "runner/result/words.h"
#include "runner/snapshot/view/export_snapshot.h"
#include "runner/snapshot/view/show_snapshot.h"

namespace leakgate {
namespace {

using Json = nlohmann::ordered_json;

Json WindowJson(const SnapshotContents& contents, const SnapshotWindow& window) {
  return {{"id", window.id},
          {"kind", Word(window.kind)},
          {"name", NameOfWindow(contents, window.id)},
          {"parent", window.parent},
          {"begin_ns", window.begin_ns},
          {"end_ns", window.end_ns == 0 ? Json(nullptr) : Json(window.end_ns)}};
}

Json ThreadJson(const SnapshotThread& thread) {
  return {{"id", thread.id},
          {"tid", thread.tid},
          {"name", thread.name},
          {"created_by", thread.parent},
          {"has_ended", thread.has_ended}};
}

Json MappingJson(const SnapshotMapping& mapping) {
  const auto known = [&](std::uint64_t bytes) {
    return mapping.pages.are_known ? Json(bytes) : Json(nullptr);
  };
  return {{"address", fmt::format("{:#x}", mapping.address)},
          {"bytes", mapping.bytes},
          {"kind", Word(mapping.kind)},
          {"reserved", mapping.protection == 0},
          {"stack", mapping.stack},
          {"window", mapping.window},
          {"thread", mapping.thread},
          {"mapped_ns", mapping.mapped_ns},
          {"resident_bytes", known(mapping.pages.resident_bytes)},
          {"swapped_bytes", known(mapping.pages.swapped_bytes)},
          {"lazily_freed_bytes", known(mapping.pages.lazily_freed_bytes)}};
}

// Writes a list with one element on each line.
class JsonList {
 public:
  JsonList(std::ostream& out, std::string_view key) : out_(out) {
    out_ << fmt::format(",\n\"{}\": [", key);
  }
  JsonList(const JsonList&) = delete;
  JsonList& operator=(const JsonList&) = delete;
  ~JsonList() { out_ << ']'; }

  void Add(std::string_view element) {
    out_ << (is_first_ ? "\n" : ",\n") << element;
    is_first_ = false;
  }

 private:
  std::ostream& out_;
  bool is_first_ = true;
};

// The number of a frame is its place in the list.
void WriteFrames(SnapshotView& view, std::ostream& out) {
  JsonList list(out, "frames");
  for (FrameId id = 0; id < view.frames().size(); ++id) {
    list.Add(CompactJson(FrameJson(view.frames().Get(id))));
  }
}

void WriteStacks(SnapshotView& view, std::ostream& out) {
  JsonList list(out, "stacks");
  std::set<std::uint32_t> others;
  for (const SnapshotMapping& mapping : view.contents().mappings) others.insert(mapping.stack);
  for (const SnapshotFrees& frees : view.contents().frees) others.insert(frees.stack);
  std::vector<StackTally> stacks = view.tally().by_stack();
  stacks.resize(std::max(stacks.size(), view.contents().nodes.size()));
  for (std::uint32_t stack = 0; stack < stacks.size(); ++stack) {
    if (stacks[stack].blocks == 0 && !others.contains(stack)) continue;
    list.Add(fmt::format(R"({{"id": {}, "bytes": {}, "blocks": {}, "end": "{}", "frames": [{}]}})",
                         stack, stacks[stack].bytes, stacks[stack].blocks,
                         Word(view.frames().EndOf(stack)),
                         fmt::join(view.frames().FramesOf(stack), ", ")));
  }
}

Expected<void> WriteBlocks(SnapshotView& view, std::ostream& out) {
  JsonList list(out, "blocks");
  return view.ReadBlocks([&](std::span<const LiveBlock> blocks) {
    for (const LiveBlock& block : blocks) {
      if (!view.Matches(block.stack)) continue;
      list.Add(fmt::format(
          R"({{"address": "{:#x}", "bytes": {}, "kind": "{}", "stack": {}, "window": {}, "thread": {}}})",
          block.address, block.size_bytes, Word(block.kind), block.stack, block.window,
          block.thread));
    }
    return Expected<void>();
  });
}

}  // namespace

Expected<void> WriteSnapshotJson(SnapshotView& view, std::ostream& out) {
  const SnapshotContents& contents = view.contents();
  out << "{\"schema\": \"leakgate-snapshot-blocks-2\",\n\"snapshot\": "
      << CompactJson(SnapshotFactsJson(view));
  {
    JsonList list(out, "windows");
    for (const auto& [id, window] : contents.windows)
      list.Add(CompactJson(WindowJson(contents, window)));
  }
  {
    JsonList list(out, "threads");
    for (const auto& [id, thread] : contents.threads) list.Add(CompactJson(ThreadJson(thread)));
  }
  {
    JsonList list(out, "mappings");
    for (const SnapshotMapping& mapping : contents.mappings)
      list.Add(CompactJson(MappingJson(mapping)));
  }
  if ((contents.facts.stack_events & kStacksOfFree) != 0) {
    JsonList list(out, "freed_by");
    for (const SnapshotFrees& frees : contents.frees) {
      list.Add(fmt::format(R"({{"stack": {}, "bytes": {}, "blocks": {}}})", frees.stack,
                           frees.bytes, frees.blocks));
    }
  }
  WriteStacks(view, out);
  WriteFrames(view, out);
  const Expected<void> written = WriteBlocks(view, out);
  out << "}\n";
  return written;
}

}  // namespace leakgate
