#include "runner/snapshot/view/page_stacks.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "runner/attribution/leak_identity.h"
#include "runner/result/words.h"

namespace leakgate {

Frame PageStacks::AsKnown(Frame frame) const {
  if (identity_ == FrameIdentity::kAddress) return frame;
  if (identity_ == FrameIdentity::kFunction) frame = WithoutPosition(std::move(frame));
  if (!frame.function.empty()) frame.module_offset = 0;
  return frame;
}

PageStacks::Numbers PageStacks::Add(StackFrames& frames, std::uint32_t stack) {
  ++count_;
  const std::vector<FrameId> ids = frames.FramesOf(stack);
  std::vector<Frame> shown;
  shown.reserve(ids.size());
  for (const FrameId id : ids) shown.push_back(AsKnown(frames.Get(id)));
  const std::optional<FrameId> site = frames.CallSiteOf(stack);
  const auto at = site ? std::find(ids.begin(), ids.end(), *site) : ids.end();
  const bool has_site = at != ids.end();
  const UnwindEnd end = frames.EndOf(stack);
  if (has_site) {
    const Frame& frame = shown[static_cast<std::size_t>(at - ids.begin())];
    sources_.Want(frame.file, frame.line, SourceRank::kFirst);
  }
  return {tables_.Stack(shown), has_site ? static_cast<int>(at - ids.begin()) + 1 : 0,
          end == UnwindEnd::kOutermost ? 0 : tables_.String(Word(end))};
}

void PageStacks::WriteMembers(std::ostream& out, const ReadSource& read_source) const {
  tables_.WriteMembers(out);
  WritePageMember(out, "sources", sources_.Read(read_source));
}

void WriteProblems(std::ostream& out, const StackLookup& stacks) {
  nlohmann::ordered_json problems = nlohmann::ordered_json::array();
  for (const auto& [path, problem] : stacks.SymbolProblems()) problems.push_back({path, problem});
  WritePageMember(out, "problems", problems);
}

}  // namespace leakgate
