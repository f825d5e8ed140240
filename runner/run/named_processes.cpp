#include "runner/run/named_processes.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <thread>

#include "runner/base/path_text.h"
#include "runner/host/traced_image.h"
#include "runner/judge/window_description.h"
#include "runner/process/image_inspection.h"
#include "runner/process/process_image.h"
#include "runner/result/gtest_flags.h"
#include "runner/run/run_outcome.h"

namespace leakgate {
namespace {

// Each one needs two descriptors and much address space.
constexpr std::size_t kMostUnjudged = 64;

std::string NameOf(const std::string& path) { return FileNameIn(path); }

// Returns why no agent can trace it; empty if one can.
std::string WhyRefused(const std::string& path) {
  const Expected<ImageInspection> inspection = InspectImage(path);
  if (!inspection) return inspection.error().message;
  return inspection->refusal.value_or("");
}

std::string WhyNotStarted(const std::string& path, bool leaves_agent) {
  const std::string refused = WhyRefused(path);
  if (!refused.empty()) return refused;
  if (leaves_agent) {
    return fmt::format(
        "it was started without the variables LD_PRELOAD and {}; have its environment keep them",
        kControlVariable);
  }
  return "the agent did not start in it; does it start at all, with all of its libraries?";
}

}  // namespace

void NamedProcesses::SetWindow(Start& start, std::uint32_t window) const {
  start.window = window;
  const WindowCopy test = program_.Window(window);
  start.child.image = NameOf(start.path);
  start.child.iteration = test.iteration;
  const bool is_test = test.id != 0 && test.kind == WindowKind::kTest;
  start.child.started_by = is_test ? test.name : "";
  start.child.test_file = is_test ? SourceFileOf(test, around_.sources) : "";
}

// Finds the start of `pid` and `path` that only the other source has reported, and notes that both
// have. If there is none, adds one.
NamedProcesses::Start& NamedProcesses::FindOrAdd(int pid, const std::string& path,
                                                 bool Start::*told, std::uint32_t window) {
  const auto known = std::find_if(starts_.rbegin(), starts_.rend(), [&](const auto& start) {
    return start->pid == pid && start->path == path && !((*start).*told);
  });
  if (known != starts_.rend()) {
    (**known).*told = true;
    return **known;
  }
  Start& start = *starts_.emplace_back(std::make_unique<Start>());
  start.pid = pid;
  start.path = path;
  start.*told = true;
  SetWindow(start, window);
  return start;
}

// Forgets a reported start of `pid` that did not happen.
void NamedProcesses::Forget(int pid) {
  const auto last = std::find_if(starts_.rbegin(), starts_.rend(), [&](const auto& start) {
    return start->pid == pid && !start->has_asked;
  });
  if (last != starts_.rend()) starts_.erase(std::next(last).base());
}

// Returns the image of `pid` that is traced now; nullptr if there is none or it is over.
NamedProcesses::Start* NamedProcesses::Running(int pid) const {
  const auto last = std::find_if(starts_.rbegin(), starts_.rend(), [&](const auto& start) {
    return start->pid == pid && start->process != nullptr && !IsOver(*start);
  });
  return last == starts_.rend() ? nullptr : last->get();
}

void NamedProcesses::OnExec(const ReportedExec& told) {
  if (told.pid == program_.pid()) return;  // the program under test, in another image
  const std::lock_guard lock(mutex_);
  Start* const earlier = told.pid == told.sender ? Running(told.pid) : nullptr;
  if (earlier != nullptr) earlier->child.has_executed = told.starts;
  if (!told.starts) return Forget(told.pid);

  const std::uint32_t window = told.window != 0 ? told.window : program_.CurrentWindow().id;
  windows_[told.pid] = window;
  if (!around_.budgets.NamesProcess(NameOf(told.path))) return;
  Start& start = FindOrAdd(told.pid, told.path, &Start::is_noted, window);
  start.leaves_agent = told.leaves_agent;
  SetWindow(start, window);  // the starter's report is the more reliable one
}

HelloReply NamedProcesses::OnHello(int pid) {
  if (pid == program_.pid()) {
    return {.region_fd = program_.RegionFor(pid),
            .wants = around_.budgets.NamesProcesses() ? kNotifyExecs : 0};
  }
  if (!around_.budgets.NamesProcesses()) return {};
  const std::lock_guard lock(mutex_);
  if (Start* const earlier = Running(pid))
    earlier->is_replaced = earlier->child.has_executed = true;
  const auto known = windows_.find(pid);
  const std::uint32_t window =
      known != windows_.end() ? known->second : program_.CurrentWindow().id;
  HelloReply reply{.wants = kNotifyExecs, .window = window};
  const std::string path = ProgramOf(pid);
  if (!around_.budgets.NamesProcess(NameOf(path))) return reply;
  if (IsDeathTest(ArgumentsOf(pid))) {
    Forget(pid);
    return reply;
  }
  Start& start = FindOrAdd(pid, path, &Start::has_asked, window);
  Trace(start);
  if (start.process != nullptr) reply.region_fd = start.process->region_fd();
  JudgeEnded(kMostUnjudged);
  return reply;
}

void NamedProcesses::Trace(Start& start) {
  start.problem = WhyRefused(start.path);
  if (!start.problem.empty()) return;
  // A child has no test boundaries, so GoogleTest's stream is not asked for.
  auto process =
      program_.TraceChild({.pid = start.pid, .boundaries = BoundarySource::kListener}, start.child);
  if (process) {
    start.process = *std::move(process);
  } else {
    start.problem = process.error().message;
  }
}

bool NamedProcesses::IsOver(const Start& start) {
  return start.is_replaced || start.process->HasEnded();
}

void NamedProcesses::Judge(Start& start) {
  const RegionReader& region = start.process->region();
  if (!IsOver(start)) {
    start.problem =
        "it still ran when the program had ended; have the test end it, and wait for it";
  } else if (region.State() != AgentState::kTracing) {
    start.problem = AgentFailureText(region.Failure());
  } else {
    start.windows = start.process->Finish();
    AddTracing(region, tracing_);
    judged_ += start.process->judged();
    start.problem = region.IsWhole() ? start.process->failure() : DamageText();
  }
  start.process.reset();
}

// Judges children that have ended, the oldest first, until at most `most_left` are unjudged.
void NamedProcesses::JudgeEnded(std::size_t most_left) {
  auto left = std::count_if(starts_.begin(), starts_.end(),
                            [](const auto& start) { return start->process != nullptr; });
  for (const auto& start : starts_) {
    if (static_cast<std::size_t>(left) <= most_left) return;
    if (start->process == nullptr || !IsOver(*start)) continue;
    Judge(*start);
    --left;
  }
}

void NamedProcesses::AwaitEnds(std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      const bool are_over = std::all_of(starts_.begin(), starts_.end(), [](const auto& start) {
        return start->process == nullptr || IsOver(*start);
      });
      if (are_over) return;
    }
    if (std::chrono::steady_clock::now() >= deadline) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

void NamedProcesses::Conclude(RunResult& result) {
  const std::lock_guard lock(mutex_);
  for (const auto& start : starts_) {
    if (start->process != nullptr) Judge(*start);
  }
  // The children of one test may have been started in any order, so they are sorted by image, too.
  std::stable_sort(starts_.begin(), starts_.end(), [](const auto& a, const auto& b) {
    return std::tie(a->window, a->child.image) < std::tie(b->window, b->child.image);
  });
  for (const auto& start : starts_) {
    std::move(start->windows.begin(), start->windows.end(), std::back_inserter(result.windows));
  }
  AddTracing(tracing_, result.tracing);
  result.gating += judged_;
}

std::vector<std::string> NamedProcesses::Doubts() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> lines;
  std::set<std::pair<std::string, std::string>> told;
  for (const auto& start : starts_) {
    const std::string why =
        start->has_asked ? start->problem : WhyNotStarted(start->path, start->leaves_agent);
    if (why.empty() || !told.insert({start->path, why}).second) continue;
    const std::string by = start->child.started_by.empty() ? "" : " of " + start->child.started_by;
    lines.push_back(
        fmt::format("the process {}{} could not be judged: {}", start->child.image, by, why));
  }
  return lines;
}

void NamedProcesses::AddProcesses(std::vector<ProcessRegion>& processes) const {
  const std::lock_guard lock(mutex_);
  for (const auto& start : starts_) {
    if (start->process == nullptr) continue;
    const ImageLife life = IsOver(*start) ? ImageLife::kOver : ImageLife::kExecuting;
    processes.push_back(start->process->Describe(life));
  }
}

std::set<std::string> NamedProcesses::Images() const {
  const std::lock_guard lock(mutex_);
  std::set<std::string> images;
  for (const auto& start : starts_) images.insert(start->child.image);
  return images;
}

}  // namespace leakgate
