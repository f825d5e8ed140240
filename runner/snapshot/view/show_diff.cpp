#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "runner/region/amount.h"
#include "runner/report/finding_text.h"
#include "runner/snapshot/view/snapshot_diff.h"

namespace leakgate {
namespace {

constexpr std::size_t kTop = 20;

std::string Signed(std::int64_t number) { return fmt::format("{:+}", number); }

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
    for (const std::string& problem : diff_.module_problems) {
      text += "\n  " + Paint("no symbols", Emphasis::kUncertain, style_.colour) + " " +
              Printable(problem) + "\n";
    }
    return text;
  }

 private:
  // Tells what amounts count.
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
    for (const std::string& line : diff_.missing) {
      text += "  " + Paint("MISSING", Emphasis::kBad, style_.colour) + " " + Printable(line) + "\n";
    }
    return text;
  }

  // What is live tells nothing of it.
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
    if (diff_.churn_sites.empty()) return text;
    const std::size_t shown = std::min(top_, diff_.churn_sites.size());
    text += "\n" +
            Paint(fmt::format("  {:>11} {:>14} {:>9} {:>11} {:>11}", "BOTH", "BYTES", "BLOCKS",
                              "ALLOCATED", "FREED"),
                  Emphasis::kInTheDistance, style_.colour) +
            "\n";
    for (std::size_t i = 0; i < shown; ++i) text += Row(diff_.churn_sites[i]);
    if (shown == diff_.churn_sites.size()) return text;
    Churn rest;
    for (std::size_t i = shown; i < diff_.churn_sites.size(); ++i) {
      rest += diff_.churn_sites[i].churn;
    }
    return text + Columns(rest) + fmt::format("  {} more\n", diff_.churn_sites.size() - shown);
  }

  static std::string Columns(const Churn& churn) {
    return fmt::format("  {:>11} {:>14} {:>9} {:>11} {:>11}", FormatBytes(churn.gone.bytes),
                       churn.gone.bytes, churn.gone.blocks, FormatBytes(churn.allocated.bytes),
                       FormatBytes(churn.freed.bytes));
  }

  std::string Row(const SiteChurn& site) const {
    return Columns(site.churn) + SiteText(site.name, site.place, site.is_users);
  }

  std::string SiteText(const std::string& name, const std::string& place, bool is_users) const {
    std::string text =
        "  " + Paint(Printable(name), Emphasis::kOwnFrame, is_users ? style_.colour : Colour::kOff);
    if (!place.empty()) text += "  " + Printable(RelativePath(place, style_.base_directory));
    return text + "\n";
  }

  // Whether it is known of both how much was in memory.
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

  std::string Columns(const SnapshotChange& change, const Wording& wording) const {
    const std::string columns = Columns(change);
    if (!wording.has_resident || !HasResident()) return columns;
    const std::int64_t growth = change.ResidentGrowth();
    return columns + fmt::format(" {:>11}", (growth > 0 ? "+" : "") + FormatBytes(growth));
  }

  std::string Columns(const SnapshotChange& change) const {
    const Amount growth = change.Growth();
    std::string text = fmt::format("  {:>11} {:>14} {:>9}",
                                   (growth.bytes > 0 ? "+" : "") + FormatBytes(growth.bytes),
                                   Signed(growth.bytes), Signed(growth.blocks));
    if (diff_.is_same_process) {
      return text + fmt::format(" {:>11} {:>11}", FormatBytes(change.appeared.bytes),
                                FormatBytes(change.gone.bytes));
    }
    return text + fmt::format(" {:>11} {:>11}", FormatBytes(change.before.bytes),
                              FormatBytes(change.after.bytes));
  }

  std::string Table(std::string_view title, const ChangedSites& sites,
                    const Wording& wording) const {
    if (sites.empty()) return "";
    const std::size_t shown = std::min(top_, sites.size());
    std::string heading(title);
    if (shown < sites.size()) heading += fmt::format(": {} of {}", shown, sites.size());
    std::string text = "\n" + Paint(heading, Emphasis::kHeading, style_.colour) + "\n";
    const bool is_one = diff_.is_same_process;
    text +=
        Paint(fmt::format("  {:>11} {:>14} {:>9} {:>11} {:>11}", "GROWTH", "BYTES", wording.column,
                          is_one ? "APPEARED" : "BEFORE", is_one ? "GONE" : "AFTER") +
                  (wording.has_resident && HasResident() ? fmt::format(" {:>11}", "RESIDENT") : ""),
              Emphasis::kInTheDistance, style_.colour) +
        "\n";
    for (std::size_t i = 0; i < shown; ++i) text += Row(*sites[i], wording);
    if (shown == sites.size()) return text;
    SnapshotChange rest;
    for (std::size_t i = shown; i < sites.size(); ++i) rest += sites[i]->change;
    return text + Columns(rest, wording) + fmt::format("  {} more\n", sites.size() - shown);
  }

  std::string Row(const SiteChange& site, const Wording& wording) const {
    return Columns(site.change, wording) + SiteText(site.name, site.place, site.is_users);
  }

  const SnapshotDiff& diff_;
  std::size_t top_;
  const TextStyle& style_;
};

}  // namespace

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
  return DiffWriter(diff, top.value_or(kTop), style).Text();
}

}  // namespace leakgate
