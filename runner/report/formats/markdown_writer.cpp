#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "runner/region/amount.h"
#include "runner/report/excess.h"
#include "runner/report/formats/escaped_text.h"
#include "runner/report/formats/issue.h"
#include "runner/report/formats/writers.h"
#include "runner/report/summary_text.h"
#include "runner/report/window_text.h"

namespace leakgate {
namespace {

// GitHub takes comments of up to 65,536 characters. What does not fit is only counted.
constexpr std::size_t kMostProgramBytes = 6'000;
constexpr std::size_t kMostRowBytes = 12'000;
constexpr std::size_t kMostNoteBytes = 8'000;
constexpr std::size_t kMostDetailBytes = 36'000;
constexpr std::size_t kLongestDetail = 6'000;
constexpr std::size_t kLongestCell = 300;

// Lines of which only the first ones are shown.
class Lines {
 public:
  explicit Lines(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  void Add(const std::string& line) {
    const bool has_room = left_out_ == 0 && text_.size() + line.size() <= most_bytes_;
    if (has_room) {
      text_ += line;
    } else {
      ++left_out_;
    }
  }
  bool IsEmpty() const { return text_.empty() && left_out_ == 0; }
  std::string Text(std::string_view more) const {
    return left_out_ == 0 ? text_ : fmt::format("{}{} {} more\n", text_, more, left_out_);
  }

 private:
  std::size_t most_bytes_;
  std::string text_;
  std::size_t left_out_ = 0;
};

std::string Shortened(std::string_view text, std::size_t most) {
  return text.size() <= most ? std::string(text) : std::string(text.substr(0, most)) + " ...";
}

std::string Cell(std::string_view text) { return MarkdownText(Shortened(text, kLongestCell)); }

std::string Code(std::string_view text) { return "<code>" + Cell(text) + "</code>"; }

int Badness(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOverBudget:
      return 3;
    case Verdict::kInconclusive:
    case Verdict::kNotGated:
      return 2;
    case Verdict::kUnconfirmed:
      return 1;
    case Verdict::kPass:
      break;
  }
  return 0;
}

std::string PositionText(const FilePosition& position) {
  if (position.file.empty()) return "";
  return position.line == 0 ? position.file : fmt::format("{}:{}", position.file, position.line);
}

class MarkdownWriter {
 public:
  MarkdownWriter(std::ostream& out, const ReportSurroundings& surroundings)
      : out_(out), root_(surroundings.source_root) {}

  void Add(const RunResult& run) {
    if (Badness(run.verdict) > Badness(verdict_)) verdict_ = run.verdict;
    gates_ = gates_ && run.mode != GateMode::kWarnOnly;
    AddRun(run);
    for (const RepeatedFailure& failure : CollectFailures(run)) AddRows(failure);
    VisitIssues(run, root_, [&](const Issue& issue) { issues_.Add(issue); });
    for (const Doubt& doubt : Doubts(run)) notes_.Add("- inconclusive: " + Cell(doubt.text) + "\n");
    if (run.exit_code != 0 && run.verdict == Verdict::kPass) {
      notes_.Add(
          fmt::format("- the tests fail: {} exits with {}\n", Code(run.binary), run.exit_code));
    }
  }

  void Finish() {
    for (const IssueGroup& group : issues_.Groups()) AddGroup(group);
    out_ << "## leakgate: " << (runs_ == 0 ? "nothing was run" : VerdictWords(verdict_)) << "\n\n"
         << programs_.Text("- and");
    if (passed_ != 0 && runs_ > 1) out_ << "- " << FormatCount(passed_, "program") << " passed\n";
    if (!gates_) out_ << "\nThis run gates nothing, whatever it found.\n";
    out_ << details_;
    if (left_out_ != 0) {
      out_ << fmt::format("\n{} not shown here; all are in the JSON report.\n",
                          FormatCount(left_out_, "more cause"));
    }
    if (!rows_.IsEmpty()) {
      out_ << "\n| Test | Component | Left behind | Budget |\n|---|---|---|---|\n"
           << rows_.Text("\nand");
    }
    if (!notes_.IsEmpty()) out_ << '\n' << notes_.Text("- and");
  }

 private:
  // If there are several runs, those that passed are only counted.
  void AddRun(const RunResult& run) {
    ++runs_;
    if (run.verdict == Verdict::kPass) ++passed_;
    if (run.verdict == Verdict::kPass && runs_ > 1) return;
    programs_.Add(fmt::format("- {}: {}\n", Code(run.binary), Cell(CountsText(run, Colour::kOff))));
  }

  void AddRows(const RepeatedFailure& failure) {
    const WindowResult& window = *failure.largest;
    const std::string name = Code(PlainWindowName(window)) + Cell(IterationsText(failure));
    if (!window.free_errors.empty()) {
      const auto count = static_cast<std::int64_t>(window.free_errors.size());
      rows_.Add(fmt::format("| {} | {} | {} | never allowed |\n", name,
                            Cell(window.budget->component), FormatCount(count, "freeing error")));
    }
    for (const Excess& excess : Excesses(window)) {
      const std::string budget =
          excess.budget.empty() ? "" : Cell(excess.budget) + " (" + Cell(SourcesText(excess)) + ")";
      rows_.Add(fmt::format("| {} | {} | {} | {} |\n", name, Cell(excess.component),
                            Cell(excess.amount), budget));
    }
  }

  void AddGroup(const IssueGroup& issue) {
    if (issue.details.empty()) {
      notes_.Add("- " + Cell(issue.title) + "\n");
      return;
    }
    std::string summary = Cell(issue.title);
    const std::string place = PositionText(issue.position);
    if (!place.empty()) summary += ", " + Code(place);
    const std::string details =
        fmt::format("\n<details><summary>{}</summary>\n\n<pre>\n{}</pre>\n</details>\n", summary,
                    XmlText(Shortened(issue.details, kLongestDetail)));
    if (details_.size() + details.size() > kMostDetailBytes) {
      ++left_out_;
    } else {
      details_ += details;
    }
  }

  std::ostream& out_;
  std::string root_;
  Verdict verdict_ = Verdict::kPass;
  bool gates_ = true;
  std::int64_t runs_ = 0;
  std::int64_t passed_ = 0;
  std::int64_t left_out_ = 0;
  IssueGroups issues_;
  Lines programs_{kMostProgramBytes};
  Lines rows_{kMostRowBytes};
  Lines notes_{kMostNoteBytes};
  std::string details_;
};

}  // namespace

ReportWriter NewMarkdownWriter(std::ostream& out, const ReportSurroundings& surroundings) {
  return MakeWriter<MarkdownWriter>(out, surroundings);
}

}  // namespace leakgate
