// The keys of the JSON of a run report: one table for each value. The writer, the reader, the page
// of the HTML report and the hash of a run all go through it, so each key is spelled once, and none
// of them can forget one.
//
// A visitor is called with each key in the order of the format, and with the member that it
// stands for:
//
//   fields.Required("name", window.name);               is always there
//   fields.WithDefault("iteration", window.iteration);  is always written; old reports lack it
//   fields.WrittenIf("owner", owner, !owner.empty());   is written only if the condition is true
//   fields.Group("stacks", [&](auto& stacks) {..})      is an object with the members in the braces
//
// `Visitor::kReads` tells whether the visitor fills the value in. What each key means stands in
// docs/report-format.md; the schema is docs/leakgate-report-2.schema.json.
#pragma once

#include <chrono>
#include <concepts>
#include <memory>
#include <string>
#include <string_view>

#include "runner/result/run_result.h"

namespace leakgate {

// The version of run reports that this leakgate writes and reads, and of merged ones.
inline constexpr std::string_view kRunSchema = "leakgate-report-2";
inline constexpr std::string_view kMergedSchema = "leakgate-merged-1";

// These wrap members that JSON shows in another form.
template <typename T>
struct OrNull {  // null if `is_null`
  T& value;
  bool is_null;
};
template <typename T>
struct Hexadecimal {  // "0x1a2b"
  T& number;
};
template <typename T>
struct Seconds {  // 1.5, counted from `origin`
  T& time;
  std::chrono::nanoseconds origin{};
};
template <typename T>
struct OfRun {  // a verdict, by the word for runs
  T& verdict;
};
template <typename T>
OrNull(T&, bool) -> OrNull<T>;
template <typename T>
Hexadecimal(T&) -> Hexadecimal<T>;
template <typename T>
Seconds(T&, std::chrono::nanoseconds) -> Seconds<T>;
template <typename T>
Seconds(T&) -> Seconds<T>;
template <typename T>
OfRun(T&) -> OfRun<T>;

// `T` itself when it is read into, `const T` when it is written.
template <typename T, typename Value>
concept Either = std::same_as<std::remove_const_t<T>, Value>;

template <typename Visitor, Either<Amount> Value>
void VisitFields(Visitor& fields, Value& amount) {
  fields.Required("bytes", amount.bytes);
  fields.Required("blocks", amount.blocks);
}

template <typename Visitor, Either<Frame> Value>
void VisitFields(Visitor& fields, Value& frame) {
  fields.WithDefault("function", frame.function);
  fields.WithDefault("file", frame.file);
  fields.WithDefault("line", frame.line);
  fields.WithDefault("module", frame.module);
  fields.WithDefault("offset", Hexadecimal{frame.module_offset});
  fields.WithDefault("inlined", frame.inlined);
  fields.WrittenIf("wrapper", frame.wrapper, frame.wrapper != Wrapper::kNo);
}

template <typename Visitor, Either<Finding> Value>
void VisitFields(Visitor& fields, Value& finding) {
  fields.Required("bytes", finding.amount.bytes);
  fields.Required("blocks", finding.amount.blocks);
  fields.Required("kind", finding.kind);
  fields.WrittenIf("framework_rule", finding.framework_rule, !finding.framework_rule.empty());
  fields.Required("disposition", finding.disposition);
  fields.WrittenIf("baseline", finding.baseline, finding.baseline != BaselineState::kNoBaseline);
  fields.WrittenIf("explanation", finding.explanation, !finding.explanation.empty());
  fields.WrittenIf("reach", finding.reach, finding.reach != Reach::kUnknown);
  fields.WrittenIf("holder", finding.holder, !finding.holder.empty());
  fields.WrittenIf("led_from", finding.led_from, !finding.led_from.empty());
  fields.WrittenIf("contents", finding.contents, !finding.contents.empty());
  fields.WrittenIf("series", finding.series, !finding.series.empty());
  fields.WrittenIf("series_bytes", finding.series_bytes, !finding.series_bytes.empty());
  fields.WrittenIf("allowance", finding.allowance, !finding.allowance.empty());
  fields.WrittenIf("component", finding.component, !finding.component.empty());
  fields.WrittenIf("thread", finding.thread, !finding.thread.empty());
  fields.WithDefault("user_frame", finding.user_frame);
  fields.Required("stack_end", finding.stack_end);
  fields.Required("stack", finding.stack);
  fields.WrittenIf("led_to", finding.led_to, !finding.led_to.empty());
}

// A limit without a file comes from the default policy.
template <typename Visitor, Either<Violation> Value>
void VisitFields(Visitor& fields, Value& violation) {
  auto& source = violation.limit.source;
  fields.Required("metric", violation.metric);
  fields.Required("actual", violation.actual);
  fields.Required("limit", violation.limit.value);
  fields.WithDefault("file", OrNull{source.file, source.file.empty()});
  fields.WithDefault("line", OrNull{source.line, source.file.empty()});
  fields.WithDefault("reason", OrNull{source.reason, source.reason.empty()});
  fields.WithDefault("component", OrNull{violation.component, violation.component.empty()});
}

template <typename Visitor, Either<TopAllocator> Value>
void VisitFields(Visitor& fields, Value& allocator) {
  fields.Required("bytes", allocator.site.amount.bytes);
  fields.Required("blocks", allocator.site.amount.blocks);
  fields.WithDefault("user_frame", allocator.site.user_frame);
  fields.Required("stack_end", allocator.site.stack_end);
  fields.Required("stack", allocator.site.stack);
}

template <typename Visitor, Either<TopAllocators> Value>
void VisitFields(Visitor& fields, Value& top) {
  fields.Required("quantity", top.quantity);
  fields.WrittenIf("problem", top.problem, !top.problem.empty());
  fields.Required("bytes", top.amount.bytes);
  fields.Required("blocks", top.amount.blocks);
  fields.WrittenIf("framework", top.framework, top.framework != Amount{});
  fields.WrittenIf("within_limits", top.is_within_limits, top.is_within_limits);
  fields.WrittenIf("other_sites", top.other_sites, top.other_sites != 0);
  fields.WrittenIf("other", top.other, top.other_sites != 0);
  fields.Required("sites", top.sites);
}

template <typename Visitor, Either<MeasuringWindowResult> Value>
void VisitFields(Visitor& fields, Value& window) {
  fields.Required("name", window.name);
  fields.WrittenIf("file", window.file, !window.file.empty());
  fields.WrittenIf("line", window.line, window.line != 0);
  fields.Required("count", window.count);
  fields.WrittenIf("open_count", window.open_count, window.open_count != 0);
  fields.Required("outstanding", window.outstanding);
}

template <typename Visitor, Either<FreeErrorResult> Value>
void VisitFields(Visitor& fields, Value& error) {
  fields.Required("text", error.text);
  fields.Required("freed_at", error.freed_at);
  fields.Required("made_at", error.made_at);
  fields.WrittenIf("baseline", error.baseline, error.baseline != BaselineState::kNoBaseline);
}

// Of a window's budget, a report has only the component and the owner.
template <typename Visitor, Either<WindowResult> Value>
void VisitBudget(Visitor& fields, Value& window) {
  std::string component = window.budget->component;
  std::string owner = window.budget->owner;
  fields.WithDefault("component", OrNull{component, component.empty()});
  fields.WithDefault("owner", OrNull{owner, owner.empty()});
  if constexpr (Visitor::kReads) {
    if (component.empty() && owner.empty()) return;
    AppliedBudget budget;
    budget.component = std::move(component);
    budget.owner = std::move(owner);
    window.budget = std::make_shared<const AppliedBudget>(std::move(budget));
  }
}

// `run_begin` is the time when the run began, by the clock of the window's times.
template <typename Visitor, Either<WindowResult> Value>
void VisitFields(Visitor& fields, Value& window, std::chrono::nanoseconds run_begin = {}) {
  fields.Required("kind", window.kind);
  fields.Required("name", window.name);
  fields.WrittenIf("started_by", window.started_by, !window.started_by.empty());
  fields.WithDefault("iteration", window.iteration);
  fields.WrittenIf("test_result", window.status,
                   window.kind == WindowKind::kTest && window.status != TestStatus::kNone);
  fields.Required("verdict", window.verdict);
  fields.WrittenIf("reason", window.reason, !window.reason.empty());
  fields.WrittenIf("source_file", window.source_file, !window.source_file.empty());
  fields.WrittenIf("source_line", window.source_line, window.source_line != 0);
  VisitBudget(fields, window);
  fields.WithDefault("begin_seconds", Seconds{window.begin, run_begin});
  fields.WithDefault("end_seconds", Seconds{window.end, run_begin});
  fields.Required("outstanding", window.outstanding);
  fields.Required("lost", window.lost);
  fields.Required("retained", window.retained);
  fields.Required("allowed", window.allowed);
  fields.WrittenIf("known", window.known, window.known != Amount{});
  fields.Required("framework", window.framework);
  fields.Required("growth", window.growth);
  fields.Required("allocated", window.allocated);
  fields.WrittenIf("temporary", window.temporary, window.temporary.has_value());
  fields.Group("live_bytes", [&](auto& live) {
    live.Required("begin", window.live_bytes_at_begin);
    live.Required("end", window.live_bytes_at_end);
  });
  fields.WithDefault("peak_live_bytes", window.peak_live_bytes);
  const bool is_mapped = window.mapped != Amount{} || IsLimited(window.budget->mapped);
  fields.WrittenIf("mapped_bytes", window.mapped.bytes, is_mapped);
  fields.WrittenIf("mapped_blocks", window.mapped.blocks, is_mapped);
  fields.WrittenIf("reserved_bytes", window.reserved_bytes, window.reserved_bytes != 0);
  fields.WrittenIf("mappings", window.mappings, !window.mappings.empty());
  fields.WrittenIf("file_descriptors", window.file_descriptors,
                   window.file_descriptors.has_value());
  fields.WrittenIf("threads", window.threads, window.threads.has_value());
  fields.WrittenIf("left_behind", window.left_behind, !window.left_behind.empty());
  fields.WrittenIf("reach_problem", window.reach_problem, !window.reach_problem.empty());
  fields.Required("violations", window.violations);
  fields.WrittenIf("made_by", window.made_by, !window.made_by.empty());
  fields.WrittenIf("known_violations", window.known_violations, !window.known_violations.empty());
  fields.WrittenIf("free_errors", window.free_errors, !window.free_errors.empty());
  fields.Required("findings", window.findings);
  fields.WrittenIf("measuring_windows", window.measuring_windows,
                   !window.measuring_windows.empty());
}

template <typename Visitor, Either<TracingResult> Value>
void VisitFields(Visitor& fields, Value& tracing) {
  fields.Required("boundaries", tracing.boundaries);
  fields.WithDefault("generations", tracing.generations);
  fields.Required("drops", tracing.drops);
  fields.Required("stack_ends", tracing.stack_ends);
  fields.Group("stacks", [&](auto& stacks) {
    stacks.Required("proved", tracing.stacks_proved);
    stacks.Required("walked", tracing.stacks_walked);
    stacks.Required("unprovable", tracing.stacks_unprovable);
    stacks.Required("frames_walked", tracing.frames_walked);
    stacks.Required("frames_without_rule", tracing.frames_without_rule);
  });
  fields.WrittenIf("mapped", tracing.mapped, tracing.mapped != Amount{});
}

template <typename Visitor, Either<ProgramExit> Value>
void VisitFields(Visitor& fields, Value& program) {
  fields.WithDefault("exit_code", program.exit_code);
  fields.WithDefault("signal", program.signal);
}

template <typename Visitor, Either<Shard> Value>
void VisitFields(Visitor& fields, Value& shard) {
  fields.Required("index", shard.index);
  fields.Required("total", shard.total);
}

// Visits all but `schema`, which comes first, and `windows`, which come last, one by one.
template <typename Visitor, Either<RunResult> Value>
void VisitFields(Visitor& fields, Value& run) {
  fields.Required("binary", run.binary);
  fields.Required("arguments", run.arguments);
  fields.Required("verdict", OfRun{run.verdict});
  fields.Required("exit_code", run.exit_code);
  fields.Required("program", run.program);
  fields.Required("mode", run.mode);
  fields.WrittenIf("shard", run.shard, run.shard.has_value());
  fields.WrittenIf("baseline", run.baseline, !run.baseline.empty());
  fields.Required("reasons", run.reasons);
  fields.Required("failures", run.failures);
  fields.Required("warnings", run.warnings);
  fields.Required("tracing", run.tracing);
  fields.WithDefault("wall_seconds", Seconds{run.wall});
  fields.WithDefault("gating_seconds", Seconds{run.gating});
  fields.WithDefault("confirming_seconds", Seconds{run.confirming});
}

}  // namespace leakgate
