#include "runner/recording/view/recording_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "runner/recording/file/read_recording.h"
#include "runner/report/style.h"

namespace leakgate {
namespace {

using Kind = RecordingTime::Kind;

}  // namespace

RecordingSource RecordingFile(const std::filesystem::path& path) {
  return [path](const RecordingVisitor& visitor) { return ReadRecording(path, visitor); };
}

RecordingView::RecordingView(RecordingQuery query, Symbolizer symbolizer)
    : query_(std::move(query)),
      finder_(contents_, marks_),
      stacks_(contents_, query_.stacks, std::move(symbolizer)),
      tally_(MakeInterval(), MakeFilter()) {
  tally_.commits().Keep(query_.commits);
}

Interval RecordingView::MakeInterval() const {
  Interval interval;
  if (query_.from) interval.from = finder_.BoundOf(*query_.from, Side::kBegin);
  if (query_.to) interval.to = finder_.BoundOf(*query_.to, Side::kEnd);
  return interval;
}

RecordedBlockFilter RecordingView::MakeFilter() {
  RecordedBlockFilter filter{.size_bytes = query_.size_bytes, .lifetime_ns = query_.lifetime_ns};
  if (stacks_.IsFiltered()) {
    filter.has_stack = [this](std::uint32_t stack) { return stacks_.Matches(stack); };
  }
  return filter;
}

void KeepContents(RecordingVisitor& visitor, SnapshotContents& contents,
                  std::vector<std::string>& marks) {
  contents.nodes.assign(kStackRootCount, {});
  visitor.module = [&](SnapshotModule&& module) {
    contents.modules[module.id] = std::move(module);
  };
  visitor.window = [&](SnapshotWindow&& window) {
    contents.windows[window.id] = std::move(window);
  };
  visitor.thread = [&](SnapshotThread&& thread) {
    contents.threads[thread.id] = std::move(thread);
  };
  visitor.nodes = [&](std::span<const SnapshotNode> nodes) {
    contents.nodes.insert(contents.nodes.end(), nodes.begin(), nodes.end());
  };
  visitor.mark = [&](std::string&& name) { marks.push_back(std::move(name)); };
}

RecordingVisitor RecordingView::Visitor() {
  RecordingVisitor visitor;
  KeepContents(visitor, contents_, marks_);
  visitor.facts = [this](RecordingFacts&& facts) {
    contents_.facts = facts.process;
    facts_ = std::move(facts);
  };
  visitor.blocks = [this](std::span<const LiveBlock> blocks) {
    tally_.AddLive(blocks);
    return Expected<void>();
  };
  visitor.mapping = [this](SnapshotMapping&& mapping) { tally_.AddMapping(mapping); };
  visitor.events = [this](std::span<const RecordedEvent> events) {
    if (!std::exchange(has_begun_, true)) {
      ForEachWindowAtBegin([this](std::uint32_t id) { tally_.AddOpenWindow(id); });
    }
    tally_.Add(events);
    return Expected<void>();
  };
  visitor.closing = [this](RecordingClosing&& closing) {
    contents_.closing = closing.process;
    closing_ = std::move(closing);
  };
  return visitor;
}

Expected<void> RecordingView::Read(RecordingSource source, const std::string& name) {
  if (const Expected<void> fits = CheckInterval(query_.from, query_.to); !fits) return fits;
  source_ = std::move(source);
  contents_.file = name;
  if (const Expected<void> read = ReadAhead(source_, Visitor()); !read) return read;
  tally_.Finish(closing_.end_ns);
  length_ns_ = closing_.end_ns;
  return CheckMoments();
}

// The order of the two is checked only if both moments exist.
Expected<void> RecordingView::CheckMoments() const {
  const IntervalWatch& interval = tally_.interval();
  if (query_.from && (!interval.has_begun() || query_.from->kind == Kind::kTime)) {
    const Expected<void> is_there = finder_.Check("--from", *query_.from, length_ns_);
    if (!is_there) return is_there;
  }
  if (query_.to && query_.to->kind != Kind::kTime && !interval.has_ended()) {
    const Expected<void> is_there = finder_.Check("--to", *query_.to, length_ns_);
    if (!is_there) return is_there;
  }
  if (interval.is_reversed()) {
    return UsageError(fmt::format("--from {} comes after --to {} in {}; exchange them",
                                  Printable(query_.from->text), Printable(query_.to->text),
                                  contents_.file));
  }
  if (!interval.has_begun()) {
    return UsageError(fmt::format("--from {}: this moment never comes in {}; name an earlier one",
                                  Printable(query_.from->text), contents_.file));
  }
  return {};
}

Expected<void> CheckInterval(const std::optional<RecordingTime>& from,
                             const std::optional<RecordingTime>& to) {
  if (!to || to->kind != Kind::kTime) {
    if (!from || from->kind != Kind::kEnd) return {};
    return UsageError("--from end: nothing comes after the end; name an earlier moment");
  }
  const std::uint64_t begin_ns = from && from->kind == Kind::kTime ? from->time_ns : 0;
  const bool is_time = !from || from->kind == Kind::kTime;
  if (!is_time || to->time_ns > begin_ns) return {};
  const std::string texts = fmt::format("--from {} --to {}", from ? from->text : "begin", to->text);
  if (to->time_ns == begin_ns) {
    return UsageError(texts + ": an interval without length; name two different moments");
  }
  return UsageError(texts + ": it ends before it begins; exchange them");
}

}  // namespace leakgate
