#include "runner/recording/view/recording_page.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "runner/recording/view/page_lives.h"
#include "runner/recording/view/recording_groups.h"
#include "runner/recording/view/show_recording.h"
#include "runner/report/formats/html_page.h"
#include "runner/snapshot/view/heading_text.h"

namespace leakgate {
namespace {

using Json = nlohmann::ordered_json;

// Returns the importance of a stack or a call site for the page: its largest share of any sum,
// since all of them can be shown.
double WorthOf(const RecordedCounts& counts, const RecordedCounts& all) {
  double worth = 0;
  for (const Weigh weigh : {Weigh::kPeak, Weigh::kOutstanding, Weigh::kTotal, Weigh::kTemporary}) {
    const std::uint64_t whole = SumOf(all, weigh).bytes;
    if (whole == 0) continue;
    const auto part = static_cast<double>(SumOf(counts, weigh).bytes);
    worth = std::max(worth, part / static_cast<double>(whole));
  }
  return worth;
}

// Returns the indices of `worths`, the greatest first.
std::vector<std::size_t> GreatestFirst(const std::vector<double>& worths) {
  std::vector<std::size_t> order(worths.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return worths[a] > worths[b]; });
  return order;
}

// Returns the options that choose the same blocks.
Json OptionsOf(const RecordingQuery& query) {
  Json options = Json::array();
  const auto add = [&](const std::string& option, const std::string& value) {
    options.push_back(option);
    options.push_back(value);
  };
  for (const std::string& filter : query.stacks.filters) add("--filter", filter);
  for (const std::string& pattern : query.stacks.without) add("--without", pattern);
  const NumberRange& size = query.size_bytes;
  if (size.HasAll()) return options;
  const std::string most = size.most == UINT64_MAX ? "" : std::to_string(size.most);
  add("--size", std::to_string(size.least) + ".." + most);
  return options;
}

class RecordingPage {
 public:
  RecordingPage(RecordingView& view, const RecordingPageLimits& limits)
      : view_(view),
        limits_(limits),
        stacks_(limits.stacks, FrameIdentity::kAddress),
        grouping_(view.stacks(), GroupBy::kSite) {}

  // Chooses call sites and stacks, and counts.
  Expected<void> Make() {
    GroupStacks();
    ChooseSites();
    ChooseStacks();
    return Count();
  }

  void Write(std::ostream& out, const ReadSource& read_source) {
    const auto [before, behind] = HtmlTemplateHalves();
    out << before << "{\"recording\":" << ScriptJson(Facts());
    WritePageMember(out, "borders", lives_->Borders());
    WritePageMember(out, "lives", Base64(encoded_));
    WritePageMember(out, "curve", Curve());
    WritePageMember(out, "marks", Marks());
    WritePageMember(out, "tests", Tests());
    WritePageMember(out, "peaks", Peaks());
    WritePageMember(out, "sites", Json{{"count", all_sites_.size()}, {"rows", sites_}});
    WritePageMember(out, "live", Live());
    stacks_.WriteMembers(out, read_source);
    WriteProblems(out, view_.stacks());
    out << '}' << behind;
  }

 private:
  const EventTally& tally() const { return view_.tally(); }

  void GroupStacks() {
    for (std::size_t i = 0; i < tally().stacks().size(); ++i) {
      if (tally().by_stack()[i].IsEmpty()) {
        site_of_.push_back(SIZE_MAX);
        continue;
      }
      ++stack_count_;
      site_of_.push_back(grouping_.Add(tally().stacks()[i], tally().by_stack()[i], 0));
    }
    all_sites_ = grouping_.Take();
  }

  void ChooseSites() {
    std::vector<double> worths;
    for (const RecordingGroup& site : all_sites_) {
      worths.push_back(WorthOf(site.sums, tally().all()));
    }
    row_of_site_.assign(worths.size(), 0);
    for (const std::size_t site : GreatestFirst(worths)) {
      // Half of the room is for the stacks.
      const bool has_room = stacks_.bytes() < limits_.stacks.table_bytes / 2;
      if (sites_.size() == limits_.stacks.sites || !has_room) break;
      const RecordingGroup& group = all_sites_[site];
      const bool is_users = view_.frames().UserFrameOf(group.stack).has_value();
      sites_.push_back({stacks_.String(group.name), stacks_.String(group.place), is_users ? 1 : 0});
      row_of_site_[site] = sites_.size();
    }
  }

  // Numbers the stacks: 0 for all that are left out, then the others, then for each call site one
  // number for its stacks that are left out.
  void ChooseStacks() {
    std::vector<double> worths;
    for (const RecordedCounts& counts : tally().by_stack()) {
      worths.push_back(counts.IsEmpty() ? -1 : WorthOf(counts, tally().all()));
    }
    numbers_.of_stack.assign(1 + LargestStack(), StackNumbers::kNotCounted);
    rows_.push_back({-1, 0, 0, 0});
    std::vector<std::size_t> sites = {0};  // by number
    std::vector<std::size_t> left_out;
    for (const std::size_t index : GreatestFirst(worths)) {
      if (worths[index] < 0) break;
      if (stacks_.IsFull()) {
        left_out.push_back(index);
        continue;
      }
      const std::uint32_t stack = tally().stacks()[index];
      const auto [node, site, end] = stacks_.Add(view_.frames(), stack);
      numbers_.of_stack[stack] = static_cast<std::uint32_t>(rows_.size());
      sites.push_back(row_of_site_[site_of_[index]]);
      rows_.push_back({node, site, end, sites.back()});
    }
    left_out_ = left_out.size();
    const std::size_t first_rest = rows_.size();
    const auto rest_of = [&](std::size_t site) {
      return static_cast<std::uint32_t>(site == 0 ? 0 : first_rest + site - 1);
    };
    for (std::size_t site = 1; site <= sites_.size(); ++site) rows_.push_back({-1, 0, 0, site});
    numbers_.rest_of.clear();
    for (const std::size_t site : sites) numbers_.rest_of.push_back(rest_of(site));
    for (const std::size_t index : left_out) {
      numbers_.of_stack[tally().stacks()[index]] = rest_of(row_of_site_[site_of_[index]]);
    }
  }

  std::size_t LargestStack() const {
    const auto& stacks = tally().stacks();
    return stacks.empty() ? 0 : *std::max_element(stacks.begin(), stacks.end());
  }

  Expected<void> Count() {
    LivesOptions options = limits_.lives;
    options.interval = view_.MakeInterval();
    options.begin_ns = view_.begin_ns();
    options.end_ns = view_.end_ns();
    // So that the live blocks of that moment can be shown.
    options.fixed_ns = tally().peak().time_ns + 1;
    options.size_bytes = view_.query().size_bytes;
    lives_ = std::make_unique<LivesOverTime>(std::move(options), numbers_);
    RecordingVisitor visitor;
    visitor.blocks = [this](std::span<const LiveBlock> blocks) {
      lives_->AddLive(blocks);
      return Expected<void>();
    };
    visitor.events = [this, has_begun = false](std::span<const RecordedEvent> events) mutable {
      if (!std::exchange(has_begun, true)) {
        view_.ForEachWindowAtBegin([this](std::uint32_t id) { lives_->AddOpenWindow(id); });
      }
      lives_->Add(events);
      return Expected<void>();
    };
    if (const Expected<void> read = ReadAhead(view_.source(), visitor); !read) return read;
    lives_->Finish(view_.length_ns());
    Encode();
    return {};
  }

  void Encode() {
    do {
      encoded_ = EncodeLives(lives_->Lives(), lives_->Borders().size() - 1);
    } while (encoded_.size() > limits_.lives_bytes && lives_->Reduce());
    for (std::size_t number = lives_->kept_stacks() + 1; number < numbers_.rest_of.size();
         ++number) {
      rows_[number] = {-1, 0, 0, rows_[number][3]};
      ++left_out_;
    }
  }

  Json Facts() {
    Json facts = RecordingFactsJson(view_);
    facts["name"] = view_.contents().facts.name;
    facts["shown"] = ChosenBlocksText(view_);
    facts["options"] = OptionsOf(view_.query());
    const Losses& losses = tally().losses();
    facts["lost_since_ns"] = losses.empty() ? Json() : Json(losses.first_begin_ns());
    facts["is_incomplete"] = view_.closing().lost_events > losses.lost_events() ||
                             !DropsText(view_.contents().closing).empty();
    facts["is_cut_off"] = !view_.closing().missing.empty() && !tally().interval().has_ended();
    return facts;
  }

  Json Peaks() {
    Json peaks = Json::array();
    for (const BinPeak& peak : lives_->peaks()) {
      const std::string test = peak.window == 0 ? "" : NameOfWindow(view_.contents(), peak.window);
      peaks.push_back({peak.live.bytes, peak.live.blocks, peak.time_ns, NumberOf(test)});
    }
    return peaks;
  }

  Json Curve() const {
    Json points = Json::array();
    for (const LiveCurve::Point& point : lives_->curve().points()) {
      points.push_back(point.most);
      points.push_back(point.least);
    }
    return {{"step_ns", lives_->curve().step_ns()}, {"points", std::move(points)}};
  }

  Json Tests() {
    Json rows = Json::array();
    std::uint64_t count = lives_->window_count() - lives_->windows().size();
    for (const LivesOverTime::Span& span : lives_->windows()) {
      const auto window = view_.contents().windows.find(span.window);
      const bool is_test =
          window != view_.contents().windows.end() && window->second.kind == WindowKind::kTest;
      if (!is_test) continue;
      ++count;
      const int name = NumberOf(NameOfWindow(view_.contents(), span.window));
      if (name != 0) rows.push_back({name, span.begin_ns, span.end_ns});
    }
    return {{"count", count}, {"rows", std::move(rows)}};
  }

  Json Marks() {
    Json rows = Json::array();
    for (const LivesOverTime::Mark& mark : lives_->marks()) {
      const bool has_name = mark.mark < view_.marks().size();
      const int name = has_name ? NumberOf(view_.marks()[mark.mark]) : 0;
      if (name != 0) rows.push_back({name, mark.time_ns});
    }
    return {{"count", lives_->mark_count()}, {"rows", std::move(rows)}};
  }

  Json Live() const { return {{"stacks", stack_count_}, {"left_out", left_out_}, {"rows", rows_}}; }

  // Returns the index of a test's or a mark's name; 0 if there is no room for it.
  int NumberOf(const std::string& name) {
    if (name.empty() || names_bytes_ > limits_.names_bytes) return 0;
    const std::size_t before = stacks_.bytes();
    const int number = stacks_.String(name);
    names_bytes_ += stacks_.bytes() - before;
    return number;
  }

  RecordingView& view_;
  const RecordingPageLimits& limits_;
  PageStacks stacks_;
  StackGroups<RecordedCounts> grouping_;

  std::size_t stack_count_ = 0;
  std::vector<std::size_t> site_of_;  // by the tally's index of stacks
  std::vector<RecordingGroup> all_sites_;
  std::vector<std::size_t> row_of_site_;  // from 1; 0: it is left out
  Json sites_ = Json::array();
  Json rows_ = Json::array();
  std::size_t left_out_ = 0;
  StackNumbers numbers_;
  std::unique_ptr<LivesOverTime> lives_;
  std::string encoded_;
  std::size_t names_bytes_ = 0;
};

}  // namespace

Expected<void> WriteRecordingPage(RecordingView& view, std::ostream& out,
                                  const ReadSource& read_source,
                                  const RecordingPageLimits& limits) {
  RecordingPage page(view, limits);
  if (const Expected<void> made = page.Make(); !made) return made;
  page.Write(out, read_source);
  return {};
}

}  // namespace leakgate
