#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runner/recording/view/recording_diff.h"
#include "runner/recording/view/show_recording.h"
#include "runner/region/amount.h"
#include "runner/report/finding_text.h"
#include "runner/snapshot/view/heading_text.h"
#include "runner/snapshot/view/show_sites.h"

namespace leakgate {
namespace {

using Json = nlohmann::ordered_json;

class RecordingDiffWriter {
 public:
  RecordingDiffWriter(const RecordingDiff& diff, const RecordingDiffOptions& options,
                      const TextStyle& style)
      : diff_(diff),
        weigh_(options.weigh),
        top_(options.top.value_or(kTopOfSites)),
        style_(style) {}

  std::string Text() const {
    std::string text = Side("from", diff_.first) + Side("to  ", diff_.second);
    text += fmt::format("  call sites{} are compared, by function and file{}\n",
                        diff_.is_same_image ? "" : " of two programs",
                        diff_.has_lines ? " and line" : ", since lines may have moved");
    text += MissingText(diff_.missing, 7, style_);
    for (const Named<Weigh>& named : WordTable<Weigh>::kWords) text += Total(named.value);
    const SiteParts<RecordingChange> parts =
        PartsBy(diff_.sites, [&](const RecordingChange& change) { return change.Growth(weigh_); });
    text += Table("Grown", parts.grown) + Table("Shrunk", parts.shrunk);
    if (parts.grown.empty() && parts.shrunk.empty()) text += "\nNothing has changed.\n";
    return text + ProblemsText(diff_.module_problems, style_);
  }

 private:
  std::string Side(const char* key, const RecordingDiff::Side& side) const {
    const std::string name =
        fmt::format("{}  ({}, PID {}, {}{})", side.file, side.facts.name, side.facts.pid,
                    MomentText(side.length_ns), side.is_incomplete ? ", incomplete" : "");
    return fmt::format("{} {}\n", Paint(key, Emphasis::kHeading, style_.colour),
                       Printable(WithRelativePaths(name, style_.base_directory)));
  }

  std::string Total(Weigh weigh) const {
    const Amount before = SumOf(diff_.total.before, weigh).amount();
    const Amount after = SumOf(diff_.total.after, weigh).amount();
    const char* const sign = after.blocks >= before.blocks ? "+" : "";
    return fmt::format("  {:<11} {} to {}: {} ({}{})\n", Word(weigh), FormatAmount(before),
                       FormatAmount(after), SignedBytes(after.bytes - before.bytes), sign,
                       FormatCount(after.blocks - before.blocks, "block"));
  }

  TextTable::Cells CellsOf(const RecordingChange& change) const {
    const Amount growth = change.Growth(weigh_);
    return {SignedBytes(growth.bytes),
            fmt::format("{:+}", growth.bytes),
            fmt::format("{:+}", growth.blocks),
            FormatBytes(SumOf(change.before, weigh_).amount().bytes),
            FormatBytes(SumOf(change.after, weigh_).amount().bytes),
            SignedBytes(change.Growth(Weigh::kTotal).bytes),
            fmt::format("{:+}", change.Growth(Weigh::kTemporary).blocks)};
  }

  std::string Table(std::string_view title,
                    const std::vector<const Site<RecordingChange>*>& sites) const {
    const TextTable table(
        {{"GROWTH"}, {"BYTES", 14}, {"BLOCKS", 9}, {"BEFORE"}, {"AFTER"}, {"TOTAL"}, {"TEMPORARY"}},
        style_);
    return SitesText(fmt::format("{} by {}", title, Word(weigh_)), table, sites, top_,
                     [&](const RecordingChange& change) { return CellsOf(change); });
  }

  const RecordingDiff& diff_;
  Weigh weigh_;
  std::size_t top_;
  const TextStyle& style_;
};

Json SideJson(const RecordingDiff::Side& side) {
  return {{"file", side.file},           {"image", side.facts.image},
          {"name", side.facts.name},     {"pid", side.facts.pid},
          {"length_ns", side.length_ns}, {"complete", !side.is_incomplete}};
}

Json ChangeJson(const RecordingChange& change) {
  Json json = Json::object();
  for (const Named<Weigh>& named : WordTable<Weigh>::kWords) {
    const Amount growth = change.Growth(named.value);
    json[named.word] = {{"before", SumJson(SumOf(change.before, named.value))},
                        {"after", SumJson(SumOf(change.after, named.value))},
                        {"growth", {{"bytes", growth.bytes}, {"blocks", growth.blocks}}}};
  }
  return json;
}

}  // namespace

std::string RecordingDiffText(const RecordingDiff& diff, const RecordingDiffOptions& options,
                              const TextStyle& style) {
  return RecordingDiffWriter(diff, options, style).Text();
}

Json RecordingDiffJson(const RecordingDiff& diff, const RecordingDiffOptions& options) {
  Json json = {{"schema", "leakgate-recording-diff-1"},
               {"from", SideJson(diff.first)},
               {"to", SideJson(diff.second)},
               {"with_lines", diff.has_lines},
               {"missing", diff.missing},
               {"modules_without_symbols", diff.module_problems},
               {"weighed_by", Word(options.weigh)},
               {"total", ChangeJson(diff.total)}};
  Json sites = Json::array();
  const std::size_t shown = std::min(options.top.value_or(diff.sites.size()), diff.sites.size());
  for (std::size_t i = 0; i < shown; ++i) {
    Json site = {{"name", diff.sites[i].name}, {"place", diff.sites[i].place}};
    site.update(ChangeJson(diff.sites[i].sums));
    sites.push_back(std::move(site));
  }
  json["sites"] = std::move(sites);
  return json;
}

}  // namespace leakgate
