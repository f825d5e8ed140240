#include "runner/run/further_processes.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <thread>

#include "common/control_protocol.h"
#include "runner/base/path_text.h"
#include "runner/host/traced_image.h"
#include "runner/judge/window_description.h"
#include "runner/process/image_inspection.h"
#include "runner/process/process_image.h"
#include "runner/process/process_tree.h"
#include "runner/result/gtest_flags.h"
#include "runner/run/preparation.h"
#include "runner/run/run_outcome.h"

namespace leakgate {
namespace {

// Each one needs two descriptors and much address space.
constexpr std::size_t kMostFurtherUnjudged = 64;

bool IsSwitchedOff(const ControlPeer& peer) {
  const std::vector<std::string> arguments = ArgumentsOf(peer);
  return ListsTests(arguments) || IsDeathTest(arguments);
}

bool IsGood(Verdict verdict) { return verdict == Verdict::kPass || verdict == Verdict::kNotGated; }

bool IsUnendedTest(const WindowResult& window) { return window.status == TestStatus::kCrashed; }

}  // namespace

BoundarySource FurtherProcesses::BoundariesOf(const std::string& path) {
  const auto known = frameworks_.find(path);
  const LinkedFramework linked = known != frameworks_.end() ? known->second : FrameworkOf(path);
  frameworks_.emplace(path, linked);
  return linked.TellsTests() ? leakgate::BoundariesOf(linked) : BoundarySource::kNone;
}

HelloReply FurtherProcesses::OnFork(int pid, std::uint32_t window) {
  const std::lock_guard lock(mutex_);
  return Trace(Kind::kForked, pid, ProgramOf(pid), window);
}

HelloReply FurtherProcesses::OnExecuted(const ControlPeer& peer) {
  const int pid = peer.pid;
  const std::lock_guard lock(mutex_);
  NoteReplaced(pid);
  const std::string path = ProgramOf(peer);
  // A process of which nothing can be known any more may have run tests.
  const bool may_run_tests =
      BoundariesOf(path) != BoundarySource::kNone || (peer.started && path.empty());
  const bool are_test_binaries =
      may_run_tests && BoundariesOf(program_.image()) != BoundarySource::kNone;
  if (!are_test_binaries || IsSwitchedOff(peer) || IsStartedByTest(peer)) return {};
  if (peer.started) {
    return AsksForNoTest(ArgumentsOf(peer)) ? HelloReply{} : NoteUntraced(path);
  }
  return Trace(Kind::kExecuted, pid, path, program_.CurrentWindow().id);
}

HelloReply FurtherProcesses::NoteUntraced(const std::string& path) {
  auto process = std::make_unique<Process>();
  process->kind = Kind::kExecuted;
  process->child.image = path.empty() ? "of an unknown program" : FileNameIn(path);
  process->problem = "what a program starts is not traced on this system; run leakgate on it";
  processes_.push_back(std::move(process));
  return {};
}

// What a test starts is the test's own affair.
bool FurtherProcesses::IsStartedByTest(const ControlPeer& peer) const {
  if (peer.started) return HadTest(peer.started->began);
  const int pid = peer.pid;
  if (program_.CurrentWindow().kind == WindowKind::kTest) return true;
  return std::any_of(processes_.begin(), processes_.end(), [pid](const auto& process) {
    if (process->judged == nullptr || process->is_replaced) return false;
    const RegionReader& region = process->judged->region();
    return region.Window(region.CurrentWindow()).kind == WindowKind::kTest &&
           IsBelow(pid, region.Pid());
  });
}

// Returns whether a test of the program ran at some time between the two.
bool FurtherProcesses::HadTest(const BeginTimes& when) const {
  const auto at = [](std::uint64_t ns) {
    return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(ns));
  };
  for (std::uint32_t id = program_.WindowCount(); id-- > 1;) {
    const WindowCopy window = program_.Window(id);
    if (window.kind != WindowKind::kTest || at(window.begin_time_ns) > when.latest) continue;
    return window.state == WindowState::kOpen || at(window.end_time_ns) >= when.earliest;
  }
  return false;
}

// A forked child may have executed a program since.
void FurtherProcesses::NoteReplaced(int pid) {
  for (const auto& process : processes_) {
    if (process->judged != nullptr && process->judged->region().Pid() == pid) {
      process->is_replaced = true;
    }
  }
}

HelloReply FurtherProcesses::Trace(Kind kind, int pid, const std::string& path,
                                   std::uint32_t window) {
  auto process = std::make_unique<Process>();
  process->kind = kind;
  const WindowCopy test = program_.Window(window);
  const bool is_test = test.id != 0 && test.kind == WindowKind::kTest;
  process->child = {.image = FileNameIn(path),
                    .started_by = is_test ? test.name : "",
                    .test_file = is_test ? SourceFileOf(test, around_.sources) : "",
                    .iteration = test.iteration,
                    .may_run_tests = BoundariesOf(path) != BoundarySource::kNone};
  if (kind == Kind::kForked) process->child.image += " (forked)";
  auto judged = program_.TraceChild(
      {.pid = pid,
       .boundaries = process->child.may_run_tests ? BoundariesOf(path) : BoundarySource::kListener},
      process->child);
  if (!judged) {
    process->problem = judged.error().message;
    processes_.push_back(std::move(process));
    return {};
  }
  process->judged = *std::move(judged);
  const int fd = process->judged->region_fd();
  processes_.push_back(std::move(process));
  JudgeEnded(kMostFurtherUnjudged);
  return {.region_fd = fd, .wants = kTraceForks, .window = window};
}

bool FurtherProcesses::RunsTests(const Process& process) {
  return process.judged->region().Boundaries() != BoundarySource::kNone;
}

bool FurtherProcesses::IsOver(const Process& process) {
  return process.is_replaced || process.judged->HasEnded();
}

// One that still runs, and has run no test, is a server that the program leaves behind, or a
// daemon.
void FurtherProcesses::Judge(Process& process) {
  const RegionReader& region = process.judged->region();
  const bool runs_tests = RunsTests(process);
  if (!IsOver(process)) {
    if (runs_tests) {
      process.problem =
          "it still ran when the program had ended; have the program wait for its children";
    }
    return process.judged->LetGo();
  }
  if (region.State() != AgentState::kTracing) {
    process.problem = AgentFailureText(region.Failure());
  } else if (runs_tests || region.End() != ProgramEnd::kUnseen) {
    TakeWindows(process);
    process.problem = region.IsWhole() ? process.judged->failure() : DamageText();
  }
  process.judged.reset();
}

void FurtherProcesses::TakeWindows(Process& process) {
  const RegionReader& region = process.judged->region();
  const bool has_own_row =
      region.End() != ProgramEnd::kUnseen && (process.kind == Kind::kForked || RunsTests(process));
  process.windows = process.judged->Finish();
  AddTracing(region, tracing_);
  judged_ += process.judged->judged();
  std::erase_if(process.windows, [&](const WindowResult& window) {
    // Programs fork in their hundreds, as shells do: of those that did nothing wrong nothing is
    // said.
    if (window.kind == WindowKind::kProcess) {
      return !has_own_row || (process.kind == Kind::kForked && IsGood(window.verdict));
    }
    // A helper of a test may end as that likes.
    return IsUnendedTest(window) && !process.child.started_by.empty();
  });
}

// Judges those that have ended, the oldest first, until at most `most_left` are unjudged.
void FurtherProcesses::JudgeEnded(std::size_t most_left) {
  auto left = std::count_if(processes_.begin(), processes_.end(),
                            [](const auto& process) { return process->judged != nullptr; });
  for (const auto& process : processes_) {
    if (static_cast<std::size_t>(left) <= most_left) return;
    if (process->judged == nullptr || !IsOver(*process)) continue;
    Judge(*process);
    --left;
  }
}

void FurtherProcesses::AwaitEnds(std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      const bool are_over =
          std::all_of(processes_.begin(), processes_.end(), [](const auto& process) {
            return process->judged == nullptr || IsOver(*process) || !RunsTests(*process);
          });
      if (are_over) return;
    }
    if (std::chrono::steady_clock::now() >= deadline) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

void FurtherProcesses::Conclude(RunResult& result) {
  const std::lock_guard lock(mutex_);
  for (const auto& process : processes_) {
    if (process->judged != nullptr) Judge(*process);
    std::move(process->windows.begin(), process->windows.end(), std::back_inserter(result.windows));
  }
  AddTracing(tracing_, result.tracing);
  result.gating += judged_;
}

std::vector<std::string> FurtherProcesses::Doubts() const {
  const std::lock_guard lock(mutex_);
  std::set<std::string> lines;
  for (const auto& process : processes_) {
    if (process->problem.empty()) continue;
    lines.insert(fmt::format("the process {} could not be judged: {}", process->child.image,
                             process->problem));
  }
  return {lines.begin(), lines.end()};
}

void FurtherProcesses::AddProcesses(std::vector<ProcessRegion>& processes) const {
  const std::lock_guard lock(mutex_);
  for (const auto& process : processes_) {
    if (process->judged == nullptr) continue;
    const ImageLife life = IsOver(*process) ? ImageLife::kOver : ImageLife::kExecuting;
    processes.push_back(process->judged->Describe(life));
  }
}

}  // namespace leakgate
