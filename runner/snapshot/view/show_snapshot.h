// Shows a snapshot as text and as JSON: what was copied, and who allocated it.
//
//   snapshot of /src/build/net_test, PID 4242
//     taken      2026-11-21 15:20:07 UTC, 2.31 s after tracing began
//     live       1.2 MiB (1258291 B) in 1200 blocks
//   Call sites: 2 of 17
//        SIZE      BYTES      %  BLOCKS  CALL SITE
//     1.0 MiB    1048576   83.3    1000  net::Pool::Grow(unsigned long)  src/net/pool.cc:88
//                                        in HttpTest.KeepAlive, which began 2.1 s before
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runner/report/style.h"
#include "runner/snapshot/view/mapped_groups.h"
#include "runner/snapshot/view/snapshot_groups.h"
#include "runner/snapshot/view/snapshot_view.h"

namespace leakgate {

enum class SnapshotLayout {
  kGroups,  // tables of groups
  kTree,    // the call tree
};

// What is shown: live blocks, or the mappings that the program has made itself.
enum class SnapshotThings { kBlocks, kMappings };

struct ShowOptions {
  SnapshotThings things = SnapshotThings::kBlocks;
  SnapshotLayout layout = SnapshotLayout::kGroups;
  std::optional<GroupBy> group_by{};   // nullopt: an overview
  std::optional<std::size_t> top{};    // the most groups, or callees of one frame
  std::optional<std::size_t> depth{};  // the most frames of a stack, or levels of the tree
};

[[nodiscard]] std::string ShowText(SnapshotView& view, const ShowOptions& options,
                                   const TextStyle& style);
[[nodiscard]] nlohmann::ordered_json ShowJson(SnapshotView& view, const ShowOptions& options);

[[nodiscard]] nlohmann::ordered_json FrameJson(const Frame& frame);
// Returns at most `depth` frames of a stack, the innermost first.
[[nodiscard]] nlohmann::ordered_json StackJson(StackFrames& frames, std::uint32_t stack,
                                               std::optional<std::size_t> depth);

// Return why modules have no symbols.
[[nodiscard]] std::string SymbolProblemsText(const StackLookup& stacks, const TextStyle& style);
[[nodiscard]] nlohmann::ordered_json SymbolProblemsJson(const StackLookup& stacks);

// Return what is known about the whole snapshot; as text, the lines above the tables.
[[nodiscard]] std::string SnapshotHeading(SnapshotView& view, SnapshotThings shown,
                                          const TextStyle& style);
[[nodiscard]] nlohmann::ordered_json SnapshotFactsJson(SnapshotView& view);

// A line of the heading: "taken", "2026-11-21 15:20:07 UTC, ..."; its text may be empty, and is not
// made printable.
struct FactLine {
  std::string_view key;
  std::string text;
};
[[nodiscard]] std::vector<FactLine> HeadingLines(SnapshotView& view, SnapshotThings shown);
// Returns the lines that are known before the blocks of a file are read.
[[nodiscard]] std::vector<FactLine> LinesOf(const SnapshotFacts& facts);

// Return the mappings (show_mapped.cpp): the tables or the tree, and the same as members of `json`.
[[nodiscard]] std::string MappedText(SnapshotView& view, const ShowOptions& options,
                                     const TextStyle& style);
void AddMappedJson(SnapshotView& view, const ShowOptions& options, nlohmann::ordered_json& json);
[[nodiscard]] nlohmann::ordered_json MappedJson(const MappedAmount& amount);
// Returns the text that is shown if no stack matches the filters.
[[nodiscard]] std::string NothingMatchesText();

// Returns a line for everything that the snapshot lacks of the process.
[[nodiscard]] std::vector<std::string> MissingFrom(const SnapshotContents& contents);

}  // namespace leakgate
