// Shows the facts about the whole recording and about its interval, as text and as JSON.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "runner/recording/view/show_recording.h"
#include "runner/region/amount.h"
#include "runner/region/region_words.h"
#include "runner/snapshot/view/heading_text.h"

namespace leakgate {
namespace {

using Json = nlohmann::ordered_json;

std::string SumText(const RecordedSum& sum) { return ExactAmount(sum.amount()); }

std::string RangeText(const NumberRange& range, std::string (*text)(std::uint64_t number)) {
  if (range.most == UINT64_MAX) return text(range.least) + " and more";
  return fmt::format("{} to {}", text(range.least), text(range.most));
}

std::string BytesText(std::uint64_t bytes) { return FormatBytes(AmountOf(bytes, 0).bytes); }

std::string IntervalText(const RecordingView& view) {
  const RecordingQuery& query = view.query();
  return fmt::format("{} to {}, {}: from {} to {}", MomentText(view.begin_ns()),
                     MomentText(view.end_ns()), LifetimeText(view.end_ns() - view.begin_ns()),
                     query.from ? query.from->text : "begin", query.to ? query.to->text : "end");
}

std::string EventsText(const RecordingView& view) {
  std::string text = std::to_string(view.tally().events());
  const RecordingClosing& closing = view.closing();
  const std::uint64_t lost = std::max(closing.lost_events, view.tally().losses().lost_events());
  text += lost == 0 ? ", none lost" : fmt::format(", and {} lost", lost);
  if (closing.waits == 0) return text;
  return text + fmt::format("; threads waited {} for a buffer, {} in all",
                            FormatCount(static_cast<std::int64_t>(closing.waits), "time"),
                            LifetimeText(closing.waited_ns));
}

std::string PeakText(const RecordingView& view) {
  const RecordedPeak& peak = view.tally().peak();
  std::string text = fmt::format("{}, at {}", SumText(peak.live), MomentText(peak.time_ns));
  if (peak.event == 0) return text + ": when the interval began";
  return peak.window == 0 ? text : text + ", in " + NameOfWindow(view.contents(), peak.window);
}

std::string OutstandingText(const RecordedCounts& all) {
  const RecordedSum outstanding = all.Outstanding();
  std::string text = SumText(outstanding) + ": the impacting size";
  if (all.later.blocks == 0) return text;
  return text + fmt::format("; {} of it were freed later", FormatAmount(all.later.amount()));
}

std::string TemporaryText(const RecordedCounts& all) {
  if (all.total.blocks == 0) return SumText(all.temporary);
  return fmt::format(
      "{}, {:.1f} % of the blocks: freed before their thread allocated again",
      SumText(all.temporary),
      100.0 * static_cast<double>(all.temporary.blocks) / static_cast<double>(all.total.blocks));
}

// Returns the four kinds of block that an interval has.
std::string LivesText(const RecordedCounts& all, const TextStyle& style) {
  const auto line = [](std::string_view what, const RecordedSum& freed, const RecordedSum& kept) {
    return fmt::format("  {:<17} {:>30} {:>30}\n", what, FormatAmount(freed.amount()),
                       FormatAmount(kept.amount()));
  };
  const std::string heading =
      fmt::format("  {:<17} {:>30} {:>30}", "", "FREED INSIDE", "NOT FREED INSIDE");
  return "\n" + Paint("Blocks of the interval", Emphasis::kHeading, style.colour) + "\n" +
         Paint(heading, Emphasis::kInTheDistance, style.colour) + "\n" +
         line("allocated before", all.before_freed, all.BeforeKept()) +
         line("allocated inside", all.inside_freed, all.Outstanding());
}

constexpr std::array kWhenFull = {Named{WhenFull::kWait, "wait"}, Named{WhenFull::kLose, "lose"}};

std::string LostText(const RecordingView& view) {
  const Losses& losses = view.tally().losses();
  return fmt::format("{} lost, in {} from {} to {}",
                     FormatCount(static_cast<std::int64_t>(losses.lost_events()), "event"),
                     FormatCount(static_cast<std::int64_t>(losses.span_count()), "span"),
                     MomentText(losses.first_begin_ns()), MomentText(losses.last_end_ns()));
}

std::string SpanText(const RecordingView& view, const LossSpan& span) {
  const std::string when =
      fmt::format("from {} to {}", MomentText(span.begin_ns), MomentText(span.end_ns));
  if (span.IsPause()) return fmt::format("paused {}: what happened then is not known", when);
  return fmt::format("{} of {} lost {}",
                     FormatCount(static_cast<std::int64_t>(span.events), "event"),
                     NameOfThread(view.contents(), span.thread), when);
}

Json SpanJson(const RecordingView& view, const LossSpan& span) {
  Json json = {{"begin_ns", span.begin_ns}, {"end_ns", span.end_ns}};
  if (span.IsPause()) {
    json["paused"] = true;
  } else {
    json["thread"] = NameOfThread(view.contents(), span.thread);
    json["lost_events"] = span.events;
  }
  return json;
}

}  // namespace

std::string ChosenBlocksText(const RecordingView& view) {
  const RecordingQuery& query = view.query();
  std::vector<std::string> texts;
  if (!query.size_bytes.HasAll()) {
    texts.push_back("of " + RangeText(query.size_bytes, BytesText));
  }
  if (!query.lifetime_ns.HasAll()) {
    texts.push_back("that lived " + RangeText(query.lifetime_ns, LifetimeText));
  }
  if (const std::string stacks = FilterText(query.stacks); !stacks.empty()) texts.push_back(stacks);
  return texts.empty() ? "" : fmt::format("blocks {}", fmt::join(texts, ", "));
}

Json SumJson(const RecordedSum& sum) { return {{"bytes", sum.bytes}, {"blocks", sum.blocks}}; }

std::vector<std::string> MissingFrom(const RecordingView& view) {
  std::vector<std::string> lines = view.facts().process.not_recorded;
  const std::vector<std::string>& missing = view.closing().missing;
  lines.insert(lines.end(), missing.begin(), missing.end());
  for (std::string& line : DropsText(view.contents().closing)) lines.push_back(std::move(line));
  const Losses& losses = view.tally().losses();
  if (losses.lost_events() != 0) lines.push_back(LostText(view));
  constexpr std::size_t kMostShown = 10;
  for (std::size_t i = 0; i < std::min(kMostShown, losses.spans().size()); ++i) {
    lines.push_back(SpanText(view, losses.spans()[i]));
  }
  if (losses.span_count() > kMostShown) {
    lines.push_back(fmt::format("and so in {} more spans of time: --json has the first {}",
                                losses.span_count() - kMostShown, Losses::kMostSpans));
  }
  return lines;
}

// Events that are lost after the interval do not affect it.
bool IsIncomplete(const RecordingView& view) {
  const Losses& losses = view.tally().losses();
  if (!losses.empty() && losses.first_begin_ns() < view.end_ns()) return true;
  // It is unknown when these events were lost.
  if (view.closing().lost_events > losses.lost_events()) return true;
  const bool is_cut_off = !view.closing().missing.empty() && !view.tally().interval().has_ended();
  return is_cut_off || !DropsText(view.contents().closing).empty();
}

std::string RecordingHeading(RecordingView& view, const TextStyle& style) {
  const SnapshotFacts& facts = view.contents().facts;
  const RecordedCounts& all = view.tally().all();
  const std::string image = facts.name.empty() ? "an unknown program" : facts.name;
  std::string text = Paint(fmt::format("recording of {}, PID {}", Printable(image), facts.pid),
                           Emphasis::kHeading, style.colour) +
                     "\n";
  const auto add = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) text += fmt::format("  {:<11} {}\n", key, Printable(value));
  };
  // Values that depend on missing events are marked.
  const std::string doubt = IsIncomplete(view) ? " (incomplete)" : "";
  add("recorded",
      fmt::format("{}, for {}{}", UtcText(facts.taken_unix_ns, "{:%Y-%m-%d %H:%M:%S} UTC"),
                  MomentText(view.length_ns()),
                  facts.occasion.empty() ? "" : ": " + facts.occasion));
  add("command", fmt::format("{}", fmt::join(facts.command_line, " ")));
  add("machine",
      fmt::format("{}, {}; leakgate {}", facts.host, facts.kernel, facts.leakgate_version));
  add("test", view.facts().test);
  add("events", EventsText(view));
  if (view.query().HasInterval()) add("interval", IntervalText(view));
  add("shown", ChosenBlocksText(view));
  add("allocated", SumText(all.total) + doubt);
  if (view.tally().HasPeak()) {
    add("peak", PeakText(view) + doubt);
  } else {
    add("peak", "not known for blocks that were chosen by their lifetimes");
  }
  add("outstanding", OutstandingText(all) + doubt);
  add("temporary", TemporaryText(all) + doubt);
  text += MissingText(MissingFrom(view), 11, style);
  const bool has_before = all.before_freed.blocks != 0 || all.BeforeKept().blocks != 0;
  return view.query().HasInterval() || has_before ? text + LivesText(all, style) : text;
}

Json RecordingFactsJson(RecordingView& view) {
  const SnapshotFacts& facts = view.contents().facts;
  const RecordedCounts& all = view.tally().all();
  const RecordingClosing& closing = view.closing();
  const Losses& losses = view.tally().losses();
  Json json = {{"file", view.contents().file},
               {"image", facts.image},
               {"pid", facts.pid},
               {"generation", facts.generation},
               {"command_line", facts.command_line},
               {"occasion", facts.occasion},
               {"test", view.facts().test},
               {"begun", UtcText(facts.taken_unix_ns, "{:%Y-%m-%dT%H:%M:%SZ}")},
               {"length_ns", view.length_ns()},
               {"host", facts.host},
               {"kernel", facts.kernel},
               {"leakgate_version", facts.leakgate_version},
               {"stacks", StackEventNames(facts.stack_events)},
               {"events", view.tally().events()},
               {"lost_events", std::max(closing.lost_events, losses.lost_events())},
               {"when_full", WordIn(kWhenFull, view.facts().when_full)},
               {"waits", closing.waits},
               {"waited_ns", closing.waited_ns},
               {"unknown_frees", view.tally().unknown_frees()},
               {"missing", MissingFrom(view)}};
  Json spans = Json::array();
  for (const LossSpan& span : losses.spans()) spans.push_back(SpanJson(view, span));
  json["missing_spans"] = std::move(spans);
  const RecordingQuery& query = view.query();
  json["interval"] = {{"from", query.from ? query.from->text : "begin"},
                      {"to", query.to ? query.to->text : "end"},
                      {"begin_ns", view.begin_ns()},
                      {"end_ns", view.end_ns()},
                      {"complete", !IsIncomplete(view)},
                      {"total", SumJson(all.total)},
                      {"temporary", SumJson(all.temporary)},
                      {"inside_freed", SumJson(all.inside_freed)},
                      {"inside_kept", SumJson(all.Outstanding())},
                      {"inside_freed_later", SumJson(all.later)},
                      {"before_freed", SumJson(all.before_freed)},
                      {"before_kept", SumJson(all.BeforeKept())}};
  const RecordedPeak& peak = view.tally().peak();
  json["interval"]["peak"] = nullptr;
  if (view.tally().HasPeak()) {
    json["interval"]["peak"] = SumJson(peak.live);
    json["interval"]["peak"]["time_ns"] = peak.time_ns;
    json["interval"]["peak"]["window"] =
        peak.window == 0 ? Json(nullptr) : Json(NameOfWindow(view.contents(), peak.window));
  }
  return json;
}

}  // namespace leakgate
