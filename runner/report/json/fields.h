// The keys of the JSON of a run report: one table for each value. The writer, the reader, the page
// of the HTML report and the hash of a run all go through it, so each key is spelled once, and none
// of them can forget one.
//
// A visitor is called with each key in the order of the format, and with the member that it
// stands for:
//
//   fields.Needed("name", window.name);            is always there
//   fields.Added("iteration", window.iteration);   is always written, but older reports lack it
//   fields.Told("owner", owner, !owner.empty());   is written only if the condition is true
//   fields.Group("stacks", [&](auto& stacks) {..}) is an object, whose members are in the braces
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
  fields.Needed("bytes", amount.bytes);
  fields.Needed("blocks", amount.blocks);
}

template <typename Visitor, Either<Frame> Value>
void VisitFields(Visitor& fields, Value& frame) {
  fields.Added("function", frame.function);
  fields.Added("file", frame.file);
  fields.Added("line", frame.line);
  fields.Added("module", frame.module);
  fields.Added("offset", Hexadecimal{frame.module_offset});
  fields.Added("inlined", frame.inlined);
  fields.Told("wrapper", frame.wrapper, frame.wrapper != Wrapper::kNo);
}

template <typename Visitor, Either<Finding> Value>
void VisitFields(Visitor& fields, Value& finding) {
  fields.Needed("bytes", finding.amount.bytes);
  fields.Needed("blocks", finding.amount.blocks);
  fields.Needed("kind", finding.kind);
  fields.Told("framework_rule", finding.framework_rule, !finding.framework_rule.empty());
  fields.Needed("disposition", finding.disposition);
  fields.Told("baseline", finding.baseline, finding.baseline != BaselineState::kNoBaseline);
  fields.Told("explanation", finding.explanation, !finding.explanation.empty());
  fields.Told("reach", finding.reach, finding.reach != Reach::kUnknown);
  fields.Told("holder", finding.holder, !finding.holder.empty());
  fields.Told("series", finding.series, !finding.series.empty());
  fields.Told("series_bytes", finding.series_bytes, !finding.series_bytes.empty());
  fields.Told("allowance", finding.allowance, !finding.allowance.empty());
  fields.Told("component", finding.component, !finding.component.empty());
  fields.Told("thread", finding.thread, !finding.thread.empty());
  fields.Added("user_frame", finding.user_frame);
  fields.Needed("stack_end", finding.stack_end);
  fields.Needed("stack", finding.stack);
}

// A limit without a file comes from the default policy.
template <typename Visitor, Either<Violation> Value>
void VisitFields(Visitor& fields, Value& violation) {
  auto& source = violation.limit.source;
  fields.Needed("metric", violation.metric);
  fields.Needed("actual", violation.actual);
  fields.Needed("limit", violation.limit.value);
  fields.Added("file", OrNull{source.file, source.file.empty()});
  fields.Added("line", OrNull{source.line, source.file.empty()});
  fields.Added("reason", OrNull{source.reason, source.reason.empty()});
  fields.Added("component", OrNull{violation.component, violation.component.empty()});
}

template <typename Visitor, Either<Maker> Value>
void VisitFields(Visitor& fields, Value& maker) {
  fields.Needed("bytes", maker.site.amount.bytes);
  fields.Needed("blocks", maker.site.amount.blocks);
  fields.Added("user_frame", maker.site.user_frame);
  fields.Needed("stack_end", maker.site.stack_end);
  fields.Needed("stack", maker.site.stack);
}

template <typename Visitor, Either<Makers> Value>
void VisitFields(Visitor& fields, Value& made) {
  fields.Needed("quantity", made.quantity);
  fields.Told("problem", made.problem, !made.problem.empty());
  fields.Needed("bytes", made.amount.bytes);
  fields.Needed("blocks", made.amount.blocks);
  fields.Told("framework", made.framework, made.framework != Amount{});
  fields.Told("within_limits", made.is_within_limits, made.is_within_limits);
  fields.Told("other_sites", made.other_sites, made.other_sites != 0);
  fields.Told("other", made.other, made.other_sites != 0);
  fields.Needed("sites", made.makers);
}

template <typename Visitor, Either<MeasuringWindowResult> Value>
void VisitFields(Visitor& fields, Value& window) {
  fields.Needed("name", window.name);
  fields.Told("file", window.file, !window.file.empty());
  fields.Told("line", window.line, window.line != 0);
  fields.Needed("count", window.count);
  fields.Told("open_count", window.open_count, window.open_count != 0);
  fields.Needed("outstanding", window.outstanding);
}

template <typename Visitor, Either<FreeErrorResult> Value>
void VisitFields(Visitor& fields, Value& error) {
  fields.Needed("text", error.text);
  fields.Needed("freed_at", error.freed_at);
  fields.Needed("made_at", error.made_at);
  fields.Told("baseline", error.baseline, error.baseline != BaselineState::kNoBaseline);
}

// Of a window's budget, a report has only the component and the owner.
template <typename Visitor, Either<WindowResult> Value>
void VisitBudget(Visitor& fields, Value& window) {
  std::string component = window.budget->component;
  std::string owner = window.budget->owner;
  fields.Added("component", OrNull{component, component.empty()});
  fields.Added("owner", OrNull{owner, owner.empty()});
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
  fields.Needed("kind", window.kind);
  fields.Needed("name", window.name);
  fields.Told("started_by", window.started_by, !window.started_by.empty());
  fields.Added("iteration", window.iteration);
  fields.Told("test_result", window.status,
              window.kind == WindowKind::kTest && window.status != TestStatus::kNone);
  fields.Needed("verdict", window.verdict);
  fields.Told("reason", window.reason, !window.reason.empty());
  fields.Told("source_file", window.source_file, !window.source_file.empty());
  fields.Told("source_line", window.source_line, window.source_line != 0);
  VisitBudget(fields, window);
  fields.Added("begin_seconds", Seconds{window.begin, run_begin});
  fields.Added("end_seconds", Seconds{window.end, run_begin});
  fields.Needed("outstanding", window.outstanding);
  fields.Needed("lost", window.lost);
  fields.Needed("retained", window.retained);
  fields.Needed("allowed", window.allowed);
  fields.Told("known", window.known, window.known != Amount{});
  fields.Needed("framework", window.framework);
  fields.Needed("growth", window.growth);
  fields.Needed("allocated", window.allocated);
  fields.Told("temporary", window.temporary, window.temporary.has_value());
  fields.Group("live_bytes", [&](auto& live) {
    live.Needed("begin", window.live_bytes_at_begin);
    live.Needed("end", window.live_bytes_at_end);
  });
  fields.Added("peak_live_bytes", window.peak_live_bytes);
  const bool is_mapped = window.mapped != Amount{} || IsLimited(window.budget->mapped);
  fields.Told("mapped_bytes", window.mapped.bytes, is_mapped);
  fields.Told("mapped_blocks", window.mapped.blocks, is_mapped);
  fields.Told("reserved_bytes", window.reserved_bytes, window.reserved_bytes != 0);
  fields.Told("mappings", window.mappings, !window.mappings.empty());
  fields.Told("file_descriptors", window.file_descriptors, window.file_descriptors.has_value());
  fields.Told("threads", window.threads, window.threads.has_value());
  fields.Told("left_behind", window.left_behind, !window.left_behind.empty());
  fields.Told("reach_problem", window.reach_problem, !window.reach_problem.empty());
  fields.Needed("violations", window.violations);
  fields.Told("made_by", window.made_by, !window.made_by.empty());
  fields.Told("known_violations", window.known_violations, !window.known_violations.empty());
  fields.Told("free_errors", window.free_errors, !window.free_errors.empty());
  fields.Needed("findings", window.findings);
  fields.Told("measuring_windows", window.measuring_windows, !window.measuring_windows.empty());
}

template <typename Visitor, Either<TracingResult> Value>
void VisitFields(Visitor& fields, Value& tracing) {
  fields.Needed("boundaries", tracing.boundaries);
  fields.Added("generations", tracing.generations);
  fields.Needed("drops", tracing.drops);
  fields.Needed("stack_ends", tracing.stack_ends);
  fields.Group("stacks", [&](auto& stacks) {
    stacks.Needed("proved", tracing.stacks_proved);
    stacks.Needed("walked", tracing.stacks_walked);
    stacks.Needed("unprovable", tracing.stacks_unprovable);
    stacks.Needed("frames_walked", tracing.frames_walked);
    stacks.Needed("frames_without_rule", tracing.frames_without_rule);
  });
  fields.Told("mapped", tracing.mapped, tracing.mapped != Amount{});
}

template <typename Visitor, Either<ProgramExit> Value>
void VisitFields(Visitor& fields, Value& program) {
  fields.Added("exit_code", program.exit_code);
  fields.Added("signal", program.signal);
}

template <typename Visitor, Either<Shard> Value>
void VisitFields(Visitor& fields, Value& shard) {
  fields.Needed("index", shard.index);
  fields.Needed("total", shard.total);
}

// Visits all but `schema`, which comes first, and `windows`, which come last, one by one.
template <typename Visitor, Either<RunResult> Value>
void VisitFields(Visitor& fields, Value& run) {
  fields.Needed("binary", run.binary);
  fields.Needed("arguments", run.arguments);
  fields.Needed("verdict", OfRun{run.verdict});
  fields.Needed("exit_code", run.exit_code);
  fields.Needed("program", run.program);
  fields.Needed("mode", run.mode);
  fields.Told("shard", run.shard, run.shard.has_value());
  fields.Told("baseline", run.baseline, !run.baseline.empty());
  fields.Needed("reasons", run.reasons);
  fields.Needed("failures", run.failures);
  fields.Needed("warnings", run.warnings);
  fields.Needed("tracing", run.tracing);
  fields.Added("wall_seconds", Seconds{run.wall});
  fields.Added("gating_seconds", Seconds{run.gating});
  fields.Added("confirming_seconds", Seconds{run.confirming});
}

}  // namespace leakgate
