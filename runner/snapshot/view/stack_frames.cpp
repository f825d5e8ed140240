#include "runner/snapshot/view/stack_frames.h"

#include <fmt/format.h>

#include <algorithm>

#include "runner/attribution/code_owner.h"
#include "runner/attribution/wrappers.h"
#include "runner/base/file_version.h"
#include "runner/base/path_text.h"

namespace leakgate {
namespace {

std::string TextOfPlace(const Frame& frame) {
  if (!frame.function.empty()) {
    return fmt::format("{}\n{}:{}", frame.function, frame.file, frame.line);
  }
  return fmt::format("\n{}+{:#x}", frame.module, frame.module_offset);
}

bool IsFrame(std::uint32_t node) { return node >= kStackRootCount; }

}  // namespace

StackFrames::StackFrames(const SnapshotContents& contents, Symbolizer& symbolizer)
    : contents_(contents),
      symbolizer_(symbolizer),
      users_(*this,
             [this](FrameId frame) {
               const bool is_wrapper = Get(frame).wrapper != Wrapper::kNo;
               return IsUsers(frame) && !is_wrapper ? frame + 1 : InnermostAnswer::kNone;
             }),
      wrappers_(*this, [this](FrameId frame) {
        return IsUsers(frame) ? frame + 1 : InnermostAnswer::kNone;
      }) {
  symbolizer_.MarkWrappers(FindWrappersBy({}));
}

bool IsUnchanged(const SnapshotModule& module) {
  const std::optional<FileVersion> file = VersionOf(PathOf(module.module.path));
  return module.file_bytes != 0 && file && file->size == module.file_bytes &&
         static_cast<std::uint64_t>(file->modified_ns) == module.file_modified_ns;
}

// A module without a build-id is identified by the size and time of its file.
bool StackFrames::IsUsable(const SnapshotModule& module) {
  const auto [known, is_new] = is_usable_.try_emplace(module.id, true);
  if (!is_new) return known->second;
  const std::string problem = ProblemOf(module);
  if (!problem.empty()) problems_[module.id] = problem;
  return known->second = problem.empty();
}

std::string StackFrames::ProblemOf(const SnapshotModule& module) {
  if (!IsAbsolutePath(module.module.path)) return "";  // "[vdso]"
  if (module.module.build_id.empty() && !IsUnchanged(module)) {
    return "it has no build-id (link it with -Wl,--build-id), and the file is not here unchanged";
  }
  switch (symbolizer_.StateOf(module.module)) {
    case ModuleFileState::kFound:
      return "";
    case ModuleFileState::kMissing:
      return "it is not here; name a directory that has it with --symbols DIR";
    case ModuleFileState::kOtherFile:
      return "the file here is of another build; name a directory that has this one with "
             "--symbols DIR";
  }
  return "";
}

std::vector<Frame> StackFrames::Symbolize(const SnapshotNode& node) {
  std::vector<Frame> nameless(1);
  const auto module = contents_.modules.find(node.module);
  if (module == contents_.modules.end()) {
    nameless[0].module_offset = node.pc;
    return nameless;
  }
  const SnapshotModule& it = module->second;
  const auto known = contents_.symbols.find({node.module, node.pc});
  if (known != contents_.symbols.end()) return KnownAt(node, it, known->second);
  if (IsUsable(it)) return symbolizer_.Symbolize(it.module, node.pc);
  nameless[0].module = it.module.path;
  nameless[0].module_offset = node.pc - it.module.bias - 1;
  return nameless;
}

// Names that were looked up where the module's file was take precedence over a file on this
// machine.
std::vector<Frame> StackFrames::KnownAt(const SnapshotNode& node, const SnapshotModule& module,
                                        const std::vector<KnownFrame>& known) {
  const auto problem = contents_.symbol_problems.find(module.id);
  if (problem != contents_.symbol_problems.end()) problems_[module.id] = problem->second;
  std::vector<Frame> frames;
  for (const KnownFrame& it : known) {
    const bool is_wrapper = it.wrapper <= static_cast<std::uint32_t>(Wrapper::kRecognised);
    frames.push_back({.function = it.function,
                      .file = it.file,
                      .line = static_cast<int>(std::min<std::uint32_t>(it.line, INT32_MAX)),
                      .module = module.module.path,
                      .module_offset = node.pc - module.module.bias - 1,
                      .inlined = it.is_inlined,
                      .called_function = it.called_function,
                      .calls_through_pointer = it.calls_through_pointer,
                      .wrapper = is_wrapper ? static_cast<Wrapper>(it.wrapper) : Wrapper::kNo});
  }
  return frames;
}

FrameId StackFrames::Intern(Frame frame) {
  const std::string place = TextOfPlace(frame);
  const auto [known, is_new] =
      ids_.try_emplace({place, frame.inlined}, static_cast<FrameId>(frames_.size()));
  if (is_new) {
    places_.push_back(place_ids_.try_emplace(place, known->second).first->second);
    is_users_.push_back(IsUserFrame(frame));
    frames_.push_back(std::move(frame));
  }
  return known->second;
}

const std::vector<FrameId>& StackFrames::FramesAt(std::uint32_t node) {
  const SnapshotNode& it = contents_.nodes[node];
  const auto [known, is_new] = by_address_.try_emplace({it.module, it.pc});
  if (!is_new) return known->second;
  for (Frame& frame : Symbolize(it)) {
    if (OriginOf(frame) != FrameOrigin::kAgent) known->second.push_back(Intern(std::move(frame)));
  }
  return known->second;
}

std::vector<FrameId> StackFrames::FramesOf(std::uint32_t node) {
  std::vector<FrameId> frames;
  // The stacks of a hostile file may have any length.
  for (std::uint32_t depth = 0; IsFrame(node) && depth < kMaxStackDepth; ++depth) {
    const std::vector<FrameId>& here = FramesAt(node);
    frames.insert(frames.end(), here.begin(), here.end());
    node = contents_.nodes[node].parent;
  }
  return frames;
}

std::optional<FrameId> StackFrames::UserFrameOf(std::uint32_t node) {
  const InnermostAnswer::Answer own = users_.Of(node);
  if (own == InnermostAnswer::kNone) return InnermostUsersOf(node);
  return own - 1;
}

std::optional<FrameId> StackFrames::InnermostUsersOf(std::uint32_t node) {
  const InnermostAnswer::Answer own = wrappers_.Of(node);
  if (own == InnermostAnswer::kNone) return std::nullopt;
  return own - 1;
}

std::optional<FrameId> StackFrames::CallSiteOf(std::uint32_t node) {
  if (const std::optional<FrameId> own = UserFrameOf(node)) return own;
  for (std::uint32_t depth = 0; IsFrame(node) && depth < kMaxStackDepth; ++depth) {
    const std::vector<FrameId>& here = FramesAt(node);
    if (!here.empty()) return here.front();
    node = contents_.nodes[node].parent;
  }
  return std::nullopt;
}

Finding StackFrames::AsFinding(std::uint32_t node) {
  Finding finding;
  for (const FrameId id : FramesOf(node)) finding.stack.Edit().push_back(Get(id));
  finding.user_frame = FindUserFrame(finding.stack);
  finding.stack_end = EndOf(node);
  return finding;
}

UnwindEnd StackFrames::EndOf(std::uint32_t node) const {
  for (std::uint32_t depth = 0; IsFrame(node) && depth < kMaxStackDepth; ++depth) {
    node = contents_.nodes[node].parent;
  }
  return node < kUnwindEndCount ? static_cast<UnwindEnd>(node) : UnwindEnd::kTableFull;
}

InnermostAnswer::Answer InnermostAnswer::OfFrame(FrameId frame) {
  if (frame >= by_frame_.size()) by_frame_.resize(std::size_t{frame} + 1);
  if (by_frame_[frame] == 0) by_frame_[frame] = ask_(frame) + 1;
  return by_frame_[frame] - 1;
}

InnermostAnswer::Answer InnermostAnswer::OfAddress(std::uint32_t node) {
  for (const FrameId frame : frames_.FramesAt(node)) {
    const Answer answer = OfFrame(frame);
    if (answer != kNone) return answer;
  }
  return kNone;
}

InnermostAnswer::Answer InnermostAnswer::Of(std::uint32_t node) {
  const std::vector<SnapshotNode>& nodes = frames_.nodes();
  by_node_.resize(std::max(by_node_.size(), nodes.size()));
  std::vector<std::uint32_t> path;
  Answer answer = kNone;
  for (; IsFrame(node); node = nodes[node].parent) {
    if (by_node_[node] != 0) {
      answer = by_node_[node] - 1;
      break;
    }
    path.push_back(node);
    answer = OfAddress(node);
    if (answer != kNone) break;
  }
  for (const std::uint32_t at : path) by_node_[at] = answer + 1;
  return answer;
}

}  // namespace leakgate
