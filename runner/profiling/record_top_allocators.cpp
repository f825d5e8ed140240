#include "runner/profiling/record_top_allocators.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "runner/attribution/code_owner.h"
#include "runner/base/path_text.h"
#include "runner/base/word_table.h"
#include "runner/profiling/recorded_image.h"
#include "runner/profiling/test_recordings.h"
#include "runner/recording/view/recording_groups.h"
#include "runner/recording/view/recording_view.h"
#include "runner/recording/view/show_recording.h"
#include "runner/report/excess.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostTopAllocators = 10;

constexpr std::array kWeighs = {
    Named{Weigh::kTotal, "allocated"},
    Named{Weigh::kTemporary, "temporary"},
    Named{Weigh::kPeak, "peak"},
};

// The images of the repeated process, each recorded into a file of its own. The control server's
// thread adds to them.
class RecordedImages {
 public:
  RecordedImages(const RepetitionSetup& setup, fs::path directory)
      : setup_(setup), directory_(std::move(directory)), unit_(ChooseEventTime()) {}

  int RegionFor(int pid) {
    auto image = Start(pid);
    if (!image) {
      problem_ = image.error().message;
      return -1;
    }
    images_.push_back(*std::move(image));
    return images_.back()->traced().region_fd();
  }

  // Returns the file of the last image. REQUIRES: the process has ended.
  Expected<fs::path> Finish() {
    if (!problem_.empty()) return InconclusiveError(problem_);
    if (images_.empty()) return InconclusiveError("it was not traced when repeated");
    for (const auto& image : images_) {
      LEAKGATE_TRY_ASSIGN([[maybe_unused]] const auto closing, image->Finish());
    }
    return images_.back()->path();
  }

 private:
  Expected<std::unique_ptr<RecordedImage>> Start(int pid) {
    const auto generation = static_cast<std::uint32_t>(images_.size()) + 1;
    return RecordedImage::Start({.pid = pid,
                                 .generation = generation,
                                 .boundaries = BoundariesOf(setup_.prepared.linked),
                                 .stack_depth = setup_.request.stack_depth},
                                {.process = {},
                                 .thread_name = {},
                                 .unit = unit_,
                                 .request = EventsOfTests(unit_),
                                 .path = directory_ / fmt::format("{}.recording", generation)},
                                setup_.symbolizer);
  }

  const RepetitionSetup& setup_;
  const fs::path directory_;
  const EventTimeUnit unit_;
  std::vector<std::unique_ptr<RecordedImage>> images_;
  std::string problem_;
};

// Users' wrappers are known by budget files; those of the command line are like another file's.
std::vector<BudgetFile> BudgetsFor(const RepetitionSetup& setup) {
  std::vector<BudgetFile> files;
  for (const BudgetFile* const file : setup.prepared.budgets.Files()) files.push_back(*file);
  BudgetFile& declared = files.emplace_back();
  declared.wrappers = setup.request.wrappers;
  return files;
}

bool IsOverInBytes(const WindowResult& window, Quantity quantity) {
  return std::any_of(window.violations.begin(), window.violations.end(), [&](const Violation& it) {
    return IsOf(it, quantity) && UnitOf(it.metric) == MetricUnit::kBytes;
  });
}

// Whether the test framework allocated for itself: the innermost function that is not the C or C++
// runtime's is its own. Behind a call through a pointer, a function of the user's may have left no
// frame.
bool IsFrameworks(StackFrames& frames, std::uint32_t stack) {
  const std::vector<FrameId> ids = frames.FramesOf(stack);
  for (const FrameId id : ids) {
    const Frame& frame = frames.Get(id);
    if (frame.calls_through_pointer) return false;
    const FrameOrigin origin = OriginOf(frame);
    if (origin == FrameOrigin::kGoogleTest || origin == FrameOrigin::kOtherTestFramework) {
      return true;
    }
    if (origin == FrameOrigin::kUser) return false;
  }
  return false;
}

// A call site, and the stack of it that has most.
struct Site {
  std::uint32_t stack = 0;
  Amount most;
  Amount amount;
};

class Sites {
 public:
  explicit Sites(StackFrames& frames) : frames_(frames) {}

  void Add(std::uint32_t stack, Amount amount) {
    all_ += amount;
    if (IsFrameworks(frames_, stack)) {
      framework_ += amount;
      return;
    }
    Site& site = by_key_[SiteKeyOf(frames_, stack)];
    if (site.amount == Amount{} || amount.bytes > site.most.bytes) {
      site.stack = stack;
      site.most = amount;
    }
    site.amount += amount;
  }

  // Those of most bytes come first, or those of most blocks.
  TopAllocators Take(bool is_by_bytes) {
    std::vector<Site> sites;
    for (const auto& [key, site] : by_key_) sites.push_back(site);
    const auto weight = [&](const Site& site) {
      const Amount& amount = site.amount;
      return is_by_bytes ? std::pair(amount.bytes, amount.blocks)
                         : std::pair(amount.blocks, amount.bytes);
    };
    std::stable_sort(sites.begin(), sites.end(),
                     [&](const Site& a, const Site& b) { return weight(a) > weight(b); });
    TopAllocators top{.amount = all_, .framework = framework_};
    for (const Site& site : sites) {
      if (top.sites.size() == kMostTopAllocators) {
        top.other += site.amount;
        ++top.other_sites;
        continue;
      }
      TopAllocator& allocator = top.sites.emplace_back(TopAllocator{frames_.AsFinding(site.stack)});
      allocator.site.amount = site.amount;
    }
    return top;
  }

 private:
  StackFrames& frames_;
  std::map<std::uint64_t, Site> by_key_;
  Amount all_;
  Amount framework_;
};

// GoogleTest copies the values of its flags for each test: they are others in the repetition.
constexpr Amount kOfFlags{512, 2};

bool IsMore(const Violation& violation, Amount amount) {
  return violation.actual >
         (UnitOf(violation.metric) == MetricUnit::kBytes ? amount.bytes : amount.blocks);
}

// Whether the test, repeated, does the same as in the suite's run, and what is its own is within
// its limits. A peak is of all that the process has.
bool IsWithinLimits(const TopAllocators& top, const WindowResult& window) {
  if (top.quantity == Quantity::kPeak) return false;
  const Amount own = top.amount - top.framework;
  return std::all_of(window.violations.begin(), window.violations.end(), [&](const Violation& it) {
    if (!IsOf(it, top.quantity)) return true;
    const std::int64_t measured = UnitOf(it.metric) == MetricUnit::kBytes ? own.bytes : own.blocks;
    return measured <= it.limit.value && !IsMore(it, top.amount + kOfFlags);
  });
}

TopAllocators TopAllocatorsOf(RecordingView& view, Quantity quantity, const WindowResult& window) {
  const auto weigh = ValueIn(kWeighs, Word(quantity)).value_or(Weigh::kTotal);
  Sites sites(view.frames());
  const EventTally& tally = view.tally();
  for (std::size_t i = 0; i < tally.stacks().size(); ++i) {
    const Amount amount = SumOf(tally.by_stack()[i], weigh).amount();
    if (amount.blocks > 0) sites.Add(tally.stacks()[i], amount);
  }
  TopAllocators top = sites.Take(IsOverInBytes(window, quantity));
  top.quantity = quantity;
  if (IsIncomplete(view)) top.problem = "not all events of the repetition could be recorded";
  top.is_within_limits = top.problem.empty() && IsWithinLimits(top, window);
  return top;
}

// Returns a view of the first time that the test ran.
Expected<std::unique_ptr<RecordingView>> ReadTest(const fs::path& file, const std::string& test,
                                                  const RepetitionSetup& setup) {
  const RecordingTime moment{
      .kind = RecordingTime::Kind::kTest, .name = test, .stem = test, .text = "test:" + test};
  auto view = std::make_unique<RecordingView>(
      RecordingQuery{.stacks = {.budgets = BudgetsFor(setup)}, .from = moment, .to = moment},
      Symbolizer(IsRuntimeModule));
  LEAKGATE_TRY(view->Read(RecordingFile(file), "the test's recording"));
  return view;
}

Expected<std::unique_ptr<RecordingView>> RecordTest(const RepetitionSetup& setup,
                                                    const RepetitionRequest& request,
                                                    const ScratchDirectory& scratch) {
  RecordedImages images(setup, scratch.path());
  LEAKGATE_TRY_ASSIGN(const RepetitionEnd end,
                      RunRepetitions(setup, request, {.region_for = [&](int pid) {
                                       return images.RegionFor(pid);
                                     }}));
  const Expected<fs::path> file = images.Finish();
  if (!end.problem.empty()) return InconclusiveError(end.problem);
  if (!file) return Unexpected(file.error());
  return ReadTest(*file, request.tests.front(), setup);
}

}  // namespace

std::vector<TopAllocators> RecordTopAllocators(const RepetitionSetup& setup,
                                               const RepetitionRequest& request,
                                               const WindowResult& window) {
  std::error_code error;
  const ScratchDirectory scratch = ScratchDirectory::In(PathText(fs::temp_directory_path(error)));
  if (scratch.path().empty()) {
    return UnknownTopAllocators(window, "no directory could be made for its recording (TMPDIR)");
  }
  const auto view = RecordTest(setup, request, scratch);
  if (!view) return UnknownTopAllocators(window, view.error().message);
  std::vector<TopAllocators> all;
  for (const Quantity quantity : ExceededActivities(window)) {
    all.push_back(TopAllocatorsOf(**view, quantity, window));
  }
  return all;
}

}  // namespace leakgate
