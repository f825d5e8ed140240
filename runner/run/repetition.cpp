#include "runner/run/repetition.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>

#include "common/control_protocol.h"
#include "runner/attach/program_environment.h"
#include "runner/base/file_access.h"
#include "runner/base/path_text.h"
#include "runner/judge/pause.h"
#include "runner/judge/window_description.h"
#include "runner/process/process_image.h"
#include "runner/process/process_tree.h"
#include "runner/report/window_text.h"
#include "runner/run/framework_arguments.h"
#include "runner/run/iteration_counts.h"
#include "runner/run/launched_program.h"
#include "runner/run/named_allocators.h"
#include "runner/run/process_memory_use.h"

namespace leakgate {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPoll(20);  // for what else may end it

// After how many iterations there is a look, a pause begins, and the cycle ends.
struct Cycle {
  int begun = 0;
  int pause = 0;
  int end = 0;
};

std::vector<Cycle> CyclesOf(const RepetitionPauses& pauses) {
  std::vector<Cycle> cycles;
  int ended = 0;
  for (const std::int64_t percent : kCyclePercent) {
    const int each = pauses.each * static_cast<int>(percent) / 100;
    cycles.push_back({ended + std::max(2, pauses.more), ended + each, ended + each + pauses.more});
    ended = cycles.back().end;
  }
  return cycles;
}

std::set<int> LooksOf(const RepetitionRequest& request) {
  std::set<int> looks;
  for (int i = 1; i <= request.looked_at; ++i) looks.insert(i);
  if (!looks.empty() && request.unlooked == std::chrono::nanoseconds(0)) {
    looks.insert(request.repetitions);
  }
  if (!request.pauses) return looks;
  looks.insert(1);
  for (const Cycle& cycle : CyclesOf(*request.pauses)) {
    looks.insert(cycle.begun);
    looks.insert(cycle.pause);
    looks.insert(cycle.end);
  }
  return looks;
}

// The images of the repeated process; the control server's thread adds to them.
class CountedImages {
 public:
  // `setup` and `request` must outlive this object.
  CountedImages(const RepetitionSetup& setup, const RepetitionRequest& request,
                IterationCounts::AtEnd at_end)
      : setup_(setup), request_(request), at_end_(std::move(at_end)) {}

  int RegionFor(int pid) {
    auto named = FindNamedAllocators(ProgramFileOf(pid), setup_.prepared.budgets.Files());
    if (!named) return -1;
    auto region = RegionFile::Create({.pid = pid,
                                      .generation = static_cast<std::uint32_t>(images_.size()) + 1,
                                      .boundaries = BoundariesOf(setup_.prepared.linked),
                                      .stack_depth = setup_.request.stack_depth,
                                      .named = *std::move(named)});
    if (!region) return -1;
    const CountDescriptors descriptors = request_.call_sites.contains(kDescriptorsKey)
                                             ? CountDescriptors::kYes
                                             : CountDescriptors::kNo;
    auto image = std::make_unique<IterationCounts>(*std::move(region), setup_.symbolizer, mutex_,
                                                   descriptors,
                                                   setup_.request.extensions.answer_more, at_end_);
    image->LookOnlyAfter(LooksOf(request_), request_.repetitions);
    image->FindFatesOf(request_.fates_of);
    const int fd = image->region_fd();
    const std::lock_guard lock(images_mutex_);
    images_.push_back(std::move(image));
    return fd;
  }

  // Called on any thread.
  [[nodiscard]] std::uint64_t CountWindows() {
    const std::lock_guard lock(images_mutex_);
    std::uint64_t count = 0;
    for (const auto& image : images_) count += image->region().WindowCount();
    return count;
  }

  // Stops counting. Returns the last image in which a test ran, or else the last one; nullptr if
  // nothing was traced. REQUIRES: the control server has stopped.
  IterationCounts* Stop() {
    for (const auto& image : images_) image->Stop();
    const auto last = std::find_if(images_.rbegin(), images_.rend(),
                                   [](const auto& image) { return image->RunsTests(); });
    if (last != images_.rend()) return last->get();
    return images_.empty() ? nullptr : images_.back().get();
  }

 private:
  const RepetitionSetup& setup_;
  const RepetitionRequest& request_;
  const IterationCounts::AtEnd at_end_;
  std::mutex mutex_;         // locked while an image's question is answered
  std::mutex images_mutex_;  // locked while the control server's thread adds an image
  std::vector<std::unique_ptr<IterationCounts>> images_;
};

void Unset(const std::string& variable, std::vector<std::string>& environment) {
  std::erase_if(environment, [&](const std::string& set) { return set.starts_with(variable); });
}

// Files that runtimes and libraries write as the process ends, and their variables.
void LeadAside(const std::filesystem::path& scratch, std::vector<std::string>& environment) {
  const std::string path = PathText(scratch);
  if (std::getenv("TEST_TMPDIR") != nullptr) environment.push_back("TEST_TMPDIR=" + path);
  for (const auto& [variable, file] : std::initializer_list<std::array<std::string, 2>>{
           {"LLVM_PROFILE_FILE=", "/clang.%p.profraw"},  // else default.profraw
           {"GCOV_PREFIX=", ""},                         // else beside the objects
           {"GMON_OUT_PREFIX=", "/gmon.out"},
       }) {
    Unset(variable, environment);
    environment.push_back(variable + path + file);
  }
  for (const char* const variable : {"CPUPROFILE=", "HEAPPROFILE=", "MALLOC_TRACE="}) {
    Unset(variable, environment);
  }
}

std::vector<std::string> EnvironmentFor(LinkedFramework linked, const RepetitionRequest& request,
                                        const ScratchDirectory& scratch) {
  std::vector<std::string> environment =
      EnvironmentToRepeat(linked, OwnEnvironment(), request.tests, request.repetitions);
  environment.emplace_back("LEAKGATE_REPETITION=1");
  if (!scratch.path().empty()) LeadAside(scratch.path(), environment);
  return environment;
}

std::string SecondsText(std::chrono::milliseconds duration) {
  return fmt::format("{:g} s", static_cast<double>(duration.count()) / 1000.0);
}

std::string HowItEnded(const ProgramExit& status) {
  if (status.signal) return fmt::format("was killed by signal {}", *status.signal);
  if (status.Exception()) return ProgramExitText(status);
  return fmt::format("exited with {}", status.exit_code.value_or(0));
}

// A repetition that waits for what another test of the suite would do never ends. How long the
// tests took in the suite's run, and all set-ups in the first repetition, shows it long before the
// timeout.
class StallWatch {
 public:
  StallWatch(const RepetitionRequest& request, std::function<RepetitionProgress()> progress)
      : patience_(kLeast + kSlower * request.once), progress_(std::move(progress)) {
    if (request.pauses) patience_ += request.pauses->time;
  }

  // Returns for how long no window has begun, if that is too long.
  std::optional<std::chrono::seconds> StoppedFor() {
    if (!progress_) return std::nullopt;
    const RepetitionProgress now = progress_();
    const Clock::duration stopped = Clock::now() - since_;
    if (std::exchange(last_, now.windows) != now.windows) {
      longest_ = std::max(longest_, stopped);
      since_ = Clock::now();
      return std::nullopt;
    }
    const bool hangs = now.has_ended_one && stopped >= patience_ + kSetUps * longest_;
    if (!hangs) return std::nullopt;
    return std::chrono::duration_cast<std::chrono::seconds>(stopped);
  }

 private:
  static constexpr std::chrono::seconds kLeast{10};
  static constexpr int kSlower = 50;
  static constexpr int kSetUps = 4;

  std::chrono::nanoseconds patience_;
  std::function<RepetitionProgress()> progress_;
  Clock::duration longest_{};  // without a window
  std::uint64_t last_ = 0;
  Clock::time_point since_ = Clock::now();
};

RepetitionEnd WaitForEnd(const RepetitionSetup& setup, const RepetitionRequest& request,
                         LaunchedProgram& program, StallWatch stall) {
  const Clock::time_point deadline = Clock::now() + request.timeout;
  const UniqueFd watch = WatchEnd(program.pid());
  RepetitionEnd end;
  for (;;) {
    if (const std::optional<ProgramExit> status = program.process().Poll()) {
      end.status = *status;
      return end;
    }
    end.is_late = end.is_late || (end.problem.empty() && Clock::now() >= deadline);
    const auto stopped = stall.StoppedFor();
    if (end.problem.empty() && (end.is_late || stopped || setup.is_cancelled())) {
      end.problem =
          end.is_late
              ? fmt::format("its repetitions took longer than {}", SecondsText(request.timeout))
          : stopped ? fmt::format("a repetition of it did not end in {}", SecondsText(*stopped))
                    : "its repetitions were interrupted";
      end.is_late = end.is_late || stopped;
      KillProcessTree(program.pid(), program.mark());
    }
    AwaitEnd(watch, kPoll);
  }
}

AllGrowth SumOf(IterationCounts& counts, const RepetitionRequest& request) {
  return request.counts_in_sum ? counts.GrowthOfAll(request.counts_in_sum) : AllGrowth{};
}

using EnoughBy = std::function<bool(const SoFar& so_far)>;

bool IsEnough(const EnoughBy& is_enough, IterationCounts& counts,
              const RepetitionRequest& request) {
  const SeriesBySite series = counts.SeriesOf(request.call_sites);
  return is_enough({series, SumOf(counts, request), counts.GrowthByTest(request.counts_by_test)});
}

// Returns whether there is less of something than at the look before. After a pause, calls have
// then freed what has come of age in it: no thread frees that, and the length of the pause counts.
bool FallsAtLast(const SoFar& so_far) {
  constexpr std::int64_t kFew = 16;
  const auto falls = [](const RepetitionSeries& series) {
    return !series.blocks.empty() && series.blocks.back() < -kFew;
  };
  const auto any_falls = [&](const SeriesBySite& sites) {
    return std::any_of(sites.begin(), sites.end(), [&](const auto& site) {
      return std::any_of(site.second.begin(), site.second.end(),
                         [&](const auto& stack) { return falls(stack.second); });
    });
  };
  return any_falls(so_far.series) ||
         std::any_of(so_far.by_test.begin(), so_far.by_test.end(), [&](const auto& test) {
           return falls(test.second.all.total) || any_falls(test.second.series);
         });
}

// What happens between two repetitions: a pause, and the process's end, once what they tell is
// enough, or it takes too much memory for more.
class Interruptions {
 public:
  Interruptions(const RepetitionRequest& request, std::string mark)
      : request_(request), mark_(std::move(mark)) {}

  // Called on the thread that counts.
  void AtEnd(IterationCounts& counts) {
    has_ended_one_.store(true);
    ChooseLast(counts);
    if (TakesTooMuch(counts) || IsOver(counts)) End(counts);
  }
  [[nodiscard]] bool has_come() const { return has_come_.load(); }
  // Any thread may call it.
  [[nodiscard]] bool has_ended_one() const { return has_ended_one_.load(); }

  // Ends a pause: the process has gone.
  void ProcessHasEnded() { has_ended_.store(true); }

 private:
  // How long what is around the tests takes in each repetition: global set-up and tear-down. The
  // runner's question at its end is not part of it.
  static std::chrono::nanoseconds TimeAroundTests(const IterationCounts& counts, int last) {
    constexpr std::chrono::microseconds kOfQuestion(500);
    return counts.TimeOfIteration(static_cast<std::size_t>(last)) - counts.TimeOfTests(last) -
           kOfQuestion;
  }

  // Of quick tests there are many repetitions, unless each one builds a large fixture.
  bool IsEnoughOfSlowFixture(IterationCounts& counts) {
    const int ended = counts.CountIterations();
    if (request_.looked_at == 0 || ended < kFewestRepetitions || ended >= request_.looked_at) {
      return false;
    }
    constexpr std::chrono::seconds kLongest(1);
    if (TimeAroundTests(counts, ended / 2) * ended <= kLongest) return false;
    counts.FindFates();
    return true;
  }

  // In the suite's run, a test may be the first that needs what the process does once.
  void ChooseLast(IterationCounts& counts) {
    const int looked_at = request_.looked_at;
    if (request_.unlooked <= std::chrono::nanoseconds(0)) return;
    if (counts.CountIterations() != looked_at) return;
    constexpr std::chrono::microseconds kOfGoogleTest(20);
    const std::chrono::nanoseconds each =
        counts.TimeOfTests(looked_at / 2) +
        static_cast<std::int64_t>(request_.tests.size()) * kOfGoogleTest;
    const std::int64_t more =
        std::min<std::int64_t>(request_.unlooked / each, request_.repetitions - looked_at);
    last_ = looked_at + static_cast<int>(std::max<std::int64_t>(more, 1));
    counts.LookLastAfter(last_);
  }

  // A test that keeps megabytes each time shows that in a few repetitions.
  bool TakesTooMuch(const IterationCounts& counts) {
    constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20;
    const std::uint64_t bytes = OwnBytesOf(counts.region().Pid());
    if (counts.CountIterations() <= 1) first_bytes_ = bytes;
    return counts.CountIterations() >= kFewestRepetitions && bytes > first_bytes_ + kMostBytes;
  }

  bool IsOver(IterationCounts& counts) {
    if (request_.pauses) return PauseOrEnd(counts);
    if (IsEnoughOfSlowFixture(counts)) return true;
    if (last_ != 0 && counts.CountIterations() == last_) return last_ < request_.repetitions;
    constexpr std::size_t kEach = 8;
    if (!request_.is_enough || counts.CountLooks() % kEach != 0) return false;
    if (static_cast<std::size_t>(counts.CountIterations()) < request_.judged_from) return false;
    return IsEnough(request_.is_enough, counts, request_);
  }

  // Returns whether another cycle would tell nothing.
  bool PauseOrEnd(IterationCounts& counts) {
    const int ended = counts.CountIterations();
    for (const Cycle& cycle : CyclesOf(*request_.pauses)) {
      if (ended == cycle.end) {
        return IsEnough(
            [this](const SoFar& so_far) {
              if (!FallsAtLast(so_far)) pause_ = next_pause_;
              return request_.pauses->is_enough(so_far);
            },
            counts, request_);
      }
      if (ended != cycle.pause) continue;
      Pause(counts.region());
      counts.LookAgain();
    }
    return false;
  }

  // The next pause is no longer than it took until nothing was freed any more.
  void Pause(const RegionReader& region) {
    const Clock::time_point begin = Clock::now();
    std::uint64_t freed = region.CurrentTotals().freed_blocks;
    Clock::duration quiet_from{};
    while (Clock::now() - begin < pause_ && !has_ended_.load()) {
      std::this_thread::sleep_for(kPoll);
      const std::uint64_t now = region.CurrentTotals().freed_blocks;
      if (now != freed) quiet_from = Clock::now() - begin;
      freed = now;
    }
    constexpr std::chrono::milliseconds kMargin(500);
    next_pause_ = pause_;
    if (quiet_from > Clock::duration{}) next_pause_ = std::min(pause_, 2 * quiet_from + kMargin);
  }

  void End(IterationCounts& counts) {
    has_come_.store(true);
    KillProcessTree(counts.region().Pid(), mark_);
  }

  std::uint64_t first_bytes_ = 0;
  int last_ = 0;  // the repetition that is looked at last, where that is chosen meanwhile
  const RepetitionRequest& request_;
  const std::string mark_;
  Clock::duration pause_ = request_.pauses ? request_.pauses->time : std::chrono::milliseconds(0);
  Clock::duration next_pause_{};
  std::atomic<bool> has_come_{false};
  std::atomic<bool> has_ended_one_{false};
  std::atomic<bool> has_ended_{false};
};

// Returns why the repetitions prove nothing, according to the region; empty if they do. How the
// process ended after its last repetition does not matter. `fewest` have to have ended.
std::string ProblemIn(const IterationCounts& counts, const RepetitionRequest& request, int fewest,
                      const ProgramExit& end) {
  if (counts.region().State() != AgentState::kTracing) return "it was not traced when repeated";
  const int ended = counts.CountIterations();
  bool has_run = false;
  for (std::uint32_t id = 1; id < counts.region().WindowCount(); ++id) {
    const WindowCopy window = counts.region().Window(id);
    if (window.kind != WindowKind::kTest) continue;
    has_run = true;
    const bool is_asked =
        std::find(request.tests.begin(), request.tests.end(), window.name) != request.tests.end();
    if (!is_asked) return fmt::format("no filter of GoogleTest's tells it from {}", window.name);
    const bool was_cut = fewest < request.repetitions && window.iteration > ended;
    const TestStatus status = TestStatusOf(window);
    if (status != TestStatus::kPassed && !request.may_fail && !was_cut) {
      return fmt::format("it did not pass when run alone, in repetition {}", window.iteration);
    }
  }
  if (!has_run) return "no test ran when it was run alone";
  if (ended < fewest) {
    return fmt::format("the program {} after {} of {} repetitions", HowItEnded(end), ended,
                       request.repetitions);
  }
  for (std::uint32_t i = 0; i < kDropReasonCount; ++i) {
    if (counts.region().Drops(static_cast<DropReason>(i)) != 0) {
      return "not all of its allocations could be recorded when it was repeated";
    }
  }
  return "";
}

}  // namespace

int CountRepetitions(const RepetitionPauses& pauses) { return CyclesOf(pauses).back().end; }

ScratchDirectory ScratchDirectory::ForRepetitions() {
  for (const char* const variable : {"TEST_TMPDIR", "TMPDIR"}) {
    const char* const parent = std::getenv(variable);
    if (parent == nullptr || *parent == '\0') continue;
    ScratchDirectory made = In(parent);
    if (!made.path().empty()) return made;
  }
  return In(TemporaryFolder());
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

Expected<RepetitionEnd> RunRepetitions(const RepetitionSetup& setup,
                                       const RepetitionRequest& request,
                                       const RepeatedProcess& repeated) {
  std::atomic<int> pid{0};
  const auto on_hello = [&](const ControlPeer& asking) {
    // Acquire pairs with the release below.
    const bool is_own = asking.pid == pid.load(std::memory_order_acquire);
    if (!is_own && !(repeated.takes_forks && asking.is_forked)) return HelloReply{};
    return HelloReply{.region_fd = repeated.region_for(asking.pid),
                      .wants = repeated.takes_forks ? kTraceForks : 0};
  };
  const ScratchDirectory scratch = ScratchDirectory::ForRepetitions();
  const std::optional<ScratchCopy> copy =
      scratch.path().empty() ? std::nullopt : ScratchCopy::OfWorkingDirectory(scratch.path());
  LEAKGATE_TRY_ASSIGN(
      const auto program,
      LaunchedProgram::Launch(
          {.process = {.program = setup.prepared.program,
                       .name = setup.request.program,
                       .arguments =
                           ArgumentsToRepeat(setup.prepared.linked, setup.request.arguments),
                       .environment = EnvironmentFor(setup.prepared.linked, request, scratch),
                       .signal_mask = setup.signal_mask,
                       .inherited = setup.inherited,
                       .streams = Streams::kNone,
                       .group = ProcessGroup::kOwn,
                       .working_directory = copy ? &*copy : nullptr},
           .agent = setup.request.agent,
           .on_hello = on_hello}));
  if (repeated.before_begin) repeated.before_begin(program->mark());
  pid.store(program->pid(), std::memory_order_release);
  LEAKGATE_TRY(program->Resume());
  return WaitForEnd(setup, request, *program, StallWatch(request, repeated.progress));
}

RepetitionResult Repeat(const RepetitionSetup& setup, const RepetitionRequest& request) {
  std::optional<Interruptions> between;  // once the process has a name
  CountedImages images(setup, request, [&](IterationCounts& counts) {
    if (counts.RunsTests()) between->AtEnd(counts);
  });
  const Expected<RepetitionEnd> ended = RunRepetitions(
      setup, request,
      {.region_for = [&](int pid) { return images.RegionFor(pid); },
       .before_begin = [&](const std::string& mark) { between.emplace(request, mark); },
       .progress =
           [&] {
             return RepetitionProgress{images.CountWindows(), between && between->has_ended_one()};
           },
       .takes_forks = true});
  if (!ended) return {ended.error().message, {}};
  const RepetitionEnd& end = *ended;
  if (between) between->ProcessHasEnded();
  IterationCounts* const counts = images.Stop();
  const bool may_be_partial = request.is_enough || request.pauses;
  const bool is_partial = between->has_come() || (may_be_partial && end.is_late);
  if (!end.problem.empty() && !is_partial) return {end.problem, {}};
  if (counts == nullptr) return {"it was not traced when repeated", {}};
  const int fewest =
      is_partial ? std::min(kFewestRepetitions, request.repetitions) : request.repetitions;
  if (end.is_late && counts->CountIterations() < fewest) return {end.problem, {}};
  const std::string problem = ProblemIn(*counts, request, fewest, end.status);
  if (!problem.empty()) return {problem, {}};
  RepetitionResult result;
  result.series = counts->SeriesOf(request.call_sites);
  result.all = SumOf(*counts, request);
  result.by_test = counts->GrowthByTest(request.counts_by_test);
  result.descriptors_left = counts->DescriptorsLeft();
  result.tests_with_descriptors = counts->TestsWithDescriptors();
  result.fates = counts->Fates();
  if (!request.tells_frees) return result;
  result.stacks_freed_later = counts->StacksFreedLater();
  result.unsettled_tests = counts->FindUnsettledTests();
  return result;
}

}  // namespace leakgate
