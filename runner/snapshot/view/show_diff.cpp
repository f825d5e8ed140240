#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "runner/region/amount.h"
#include "runner/report/finding_text.h"
#include "runner/snapshot/view/heading_text.h"
#include "runner/snapshot/view/show_sites.h"
#include "runner/snapshot/view/snapshot_diff.h"

namespace leakgate {
namespace {

class DiffWriter {
 public:
  DiffWriter(const SnapshotDiff& diff, std::size_t top, const TextStyle& style)
      : diff_(diff), top_(top), style_(style) {}

  std::string Text() const {
    std::string text = Heading() + Totals(diff_.total, kBlocks);
    text += Tables(diff_.sites, kBlocks);
    if (HasMapped()) {
      text += "\n" + Paint("Mapped by the program itself", Emphasis::kHeading, style_.colour) +
              ", besides what is live\n" + Totals(diff_.mapped, kMappings) + Resident() +
              Tables(diff_.mapped_sites, kMappings);
    }
    text += Churned();
    if (diff_.sites.empty() && diff_.mapped_sites.empty()) text += "\nNothing has changed.\n";
    return text + ProblemsText(diff_.module_problems, style_);
  }

 private:
  // What the amounts count.
  struct Wording {
    const char* one;
    const char* column;
    const char* grown;
    const char* shrunk;
    const char* since;
    bool has_resident;
  };
  static constexpr Wording kBlocks{"block",
                                   "BLOCKS",
                                   "Grown",
                                   "Shrunk",
                                   "allocated in between, and still live (the impacting size)",
                                   false};
  static constexpr Wording kMappings{
      "mapping", "MAPPINGS", "Mapped more", "Mapped less", "mapped in between, and mapped still",
      true};

  bool HasMapped() const {
    return diff_.mapped.before != Amount{} || diff_.mapped.after != Amount{};
  }

  std::string Heading() const {
    std::string text;
    const auto add = [&](const char* key, const std::string& file, const SnapshotFacts& facts) {
      const std::string name = fmt::format("{}  ({}, PID {}{})", file, facts.name, facts.pid,
                                           facts.occasion.empty() ? "" : ", " + facts.occasion);
      text += fmt::format("{} {}\n", Paint(key, Emphasis::kHeading, style_.colour),
                          Printable(WithRelativePaths(name, style_.base_directory)));
    };
    add("from", diff_.files[0], diff_.first);
    add("to  ", diff_.files[1], diff_.second);
    text += "  " + HowCompared(diff_) + "\n";
    return text + MissingText(diff_.missing, 7, style_);
  }

  // The live blocks do not show this.
  std::string Churned() const {
    if (!diff_.has_churn) return "";
    const Churn& all = diff_.churn;
    std::string text = "\n" +
                       Paint("Allocated and freed in between", Emphasis::kHeading, style_.colour) +
                       ", by counters\n";
    const auto add = [&](const char* key, Amount amount) {
      text += fmt::format("  {:<10} {}\n", key, AmountText(amount, kBlocks));
    };
    add("allocated", all.allocated);
    add("freed", all.freed);
    add("both", all.gone);
    std::vector<const SiteChurn*> sites;
    for (const SiteChurn& site : diff_.churn_sites) sites.push_back(&site);
    const TextTable table({{"BOTH"}, {"BYTES", 14}, {"BLOCKS", 9}, {"ALLOCATED"}, {"FREED"}},
                          style_);
    return text + SitesText("", table, sites, top_, [](const Churn& churn) {
             return TextTable::Cells{
                 FormatBytes(churn.gone.bytes), std::to_string(churn.gone.bytes),
                 std::to_string(churn.gone.blocks), FormatBytes(churn.allocated.bytes),
                 FormatBytes(churn.freed.bytes)};
           });
  }

  // Returns whether both snapshots know how much was in memory.
  bool HasResident() const { return diff_.pages_problems.empty(); }

  std::string Resident() const {
    const SnapshotChange& all = diff_.mapped;
    std::string text;
    if (HasResident()) {
      const std::int64_t growth = all.ResidentGrowth();
      return fmt::format("  {:<10} {} before, {} after: {}{}\n", "resident",
                         FormatBytes(all.resident_before), FormatBytes(all.resident_after),
                         growth >= 0 ? "+" : "", FormatBytes(growth));
    }
    for (const std::string& problem : diff_.pages_problems) {
      text += fmt::format("  {:<10} not known of {}\n", "resident", Printable(problem));
    }
    return text;
  }

  static std::string AmountText(Amount amount, const Wording& wording) {
    return FormatBytes(amount.bytes) + " in " + FormatCount(amount.blocks, wording.one);
  }

  static std::string ChangeText(Amount change, const Wording& wording) {
    const auto sign = [](std::int64_t value) { return value >= 0 ? "+" : ""; };
    return fmt::format("{}{} ({}{})", sign(change.bytes), FormatBytes(change.bytes),
                       sign(change.blocks), FormatCount(change.blocks, wording.one));
  }

  std::string Totals(const SnapshotChange& total, const Wording& wording) const {
    std::string text;
    const auto add = [&](const char* key, const std::string& value) {
      text += fmt::format("  {:<10} {}\n", key, value);
    };
    add("before", AmountText(total.before, wording));
    add("after", fmt::format("{}: {}", AmountText(total.after, wording),
                             ChangeText(total.Growth(), wording)));
    if (!diff_.is_same_process) return text;
    add("appeared", fmt::format("{}: {}", AmountText(total.appeared, wording), wording.since));
    add("gone", AmountText(total.gone, wording));
    add("kept", AmountText(total.before - total.gone, wording));
    return text;
  }

  std::string Tables(const std::vector<SiteChange>& sites, const Wording& wording) const {
    const DiffParts parts = PartsOf(sites);
    std::string text =
        Table(wording.grown, parts.grown, wording) + Table(wording.shrunk, parts.shrunk, wording);
    if (HasResident()) {
      text += Table("Mapped as before, more or less of it in memory", parts.touched, wording);
    }
    if (parts.replaced.empty()) return text;
    return text + "\n" +
           FormatCount(static_cast<std::int64_t>(parts.replaced.size()), "call site") +
           " replaced what they had by as much\n";
  }

  TextTable::Cells CellsOf(const SnapshotChange& change, const Wording& wording) const {
    const Amount growth = change.Growth();
    const bool is_one = diff_.is_same_process;
    TextTable::Cells cells = {SignedBytes(growth.bytes), fmt::format("{:+}", growth.bytes),
                              fmt::format("{:+}", growth.blocks),
                              FormatBytes((is_one ? change.appeared : change.before).bytes),
                              FormatBytes((is_one ? change.gone : change.after).bytes)};
    const bool has_resident = wording.has_resident && HasResident();
    if (has_resident) cells.push_back(SignedBytes(change.ResidentGrowth()));
    return cells;
  }

  std::string Table(std::string title, const ChangedSites& sites, const Wording& wording) const {
    const bool is_one = diff_.is_same_process;
    std::vector<TextTable::Column> columns = {{"GROWTH"},
                                              {"BYTES", 14},
                                              {wording.column, 9},
                                              {is_one ? "APPEARED" : "BEFORE"},
                                              {is_one ? "GONE" : "AFTER"}};
    if (wording.has_resident && HasResident()) columns.push_back({"RESIDENT"});
    return SitesText(std::move(title), {columns, style_}, sites, top_,
                     [&](const SnapshotChange& change) { return CellsOf(change, wording); });
  }

  const SnapshotDiff& diff_;
  std::size_t top_;
  const TextStyle& style_;
};

}  // namespace

std::string ProblemsText(const std::vector<std::string>& problems, const TextStyle& style) {
  std::string text;
  for (const std::string& problem : problems) {
    text += "\n  " + Paint("no symbols", Emphasis::kUncertain, style.colour) + " " +
            Printable(problem) + "\n";
  }
  return text;
}

std::string HowCompared(const SnapshotDiff& diff) {
  if (diff.is_same_process) {
    const std::chrono::nanoseconds between(diff.second.taken_ns - diff.first.taken_ns);
    return fmt::format("one process, {} apart: blocks are compared one by one",
                       FormatDuration(between));
  }
  return fmt::format("two processes{}: call sites are compared, by function and file{}",
                     diff.is_same_image ? "" : " of two programs",
                     diff.has_lines ? " and line" : ", since lines may have moved");
}

std::string DiffText(const SnapshotDiff& diff, std::optional<std::size_t> top,
                     const TextStyle& style) {
  return DiffWriter(diff, top.value_or(kTopOfSites), style).Text();
}

}  // namespace leakgate
