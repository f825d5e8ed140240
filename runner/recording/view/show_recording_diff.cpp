#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runner/recording/view/recording_diff.h"
#include "runner/recording/view/show_recording.h"
#include "runner/region/amount.h"
#include "runner/report/finding_text.h"

namespace leakgate {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kTop = 20;

std::string SignedBytes(std::int64_t bytes) { return (bytes > 0 ? "+" : "") + FormatBytes(bytes); }

// The sites of a comparison in the order in which they are shown.
struct Parts {
  std::vector<const RecordingSiteChange*> grown;
  std::vector<const RecordingSiteChange*> shrunk;
  std::size_t same = 0;
};

Parts PartsOf(const RecordingDiff& diff, Weigh weigh) {
  Parts parts;
  for (const RecordingSiteChange& site : diff.sites) {
    const Amount growth = site.Growth(weigh);
    if (growth == Amount{}) {
      ++parts.same;
    } else if (growth.bytes > 0 || (growth.bytes == 0 && growth.blocks > 0)) {
      parts.grown.push_back(&site);
    } else {
      parts.shrunk.push_back(&site);
    }
  }
  std::reverse(parts.shrunk.begin(), parts.shrunk.end());
  return parts;
}

class DiffWriter {
 public:
  DiffWriter(const RecordingDiff& diff, const RecordingDiffOptions& options, const TextStyle& style)
      : diff_(diff), weigh_(options.weigh), top_(options.top.value_or(kTop)), style_(style) {}

  std::string Text() const {
    std::string text = Side("from", diff_.first) + Side("to  ", diff_.second);
    text += fmt::format("  call sites{} are compared, by function and file{}\n",
                        diff_.is_same_image ? "" : " of two programs",
                        diff_.has_lines ? " and line" : ", since lines may have moved");
    for (const std::string& line : diff_.missing) {
      text += "  " + Paint("MISSING", Emphasis::kBad, style_.colour) + " " + Printable(line) + "\n";
    }
    for (const Named<Weigh>& named : WordTable<Weigh>::kWords) text += Total(named.value);
    const Parts parts = PartsOf(diff_, weigh_);
    text += Table("Grown", parts.grown) + Table("Shrunk", parts.shrunk);
    if (parts.grown.empty() && parts.shrunk.empty()) text += "\nNothing has changed.\n";
    for (const std::string& problem : diff_.module_problems) {
      text += "\n  " + Paint("no symbols", Emphasis::kUncertain, style_.colour) + " " +
              Printable(problem) + "\n";
    }
    return text;
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

  std::string Columns(const RecordingSiteChange& site) const {
    const Amount growth = site.Growth(weigh_);
    return fmt::format("  {:>11} {:>14} {:>9} {:>11} {:>11} {:>11} {:>11}",
                       SignedBytes(growth.bytes), fmt::format("{:+}", growth.bytes),
                       fmt::format("{:+}", growth.blocks),
                       FormatBytes(SumOf(site.before, weigh_).amount().bytes),
                       FormatBytes(SumOf(site.after, weigh_).amount().bytes),
                       SignedBytes(site.Growth(Weigh::kTotal).bytes),
                       fmt::format("{:+}", site.Growth(Weigh::kTemporary).blocks));
  }

  std::string Table(std::string_view title,
                    const std::vector<const RecordingSiteChange*>& sites) const {
    if (sites.empty()) return "";
    const std::size_t shown = std::min(top_, sites.size());
    std::string heading = fmt::format("{} by {}", title, Word(weigh_));
    if (shown < sites.size()) heading += fmt::format(": {} of {}", shown, sites.size());
    std::string text =
        "\n" + Paint(heading, Emphasis::kHeading, style_.colour) + "\n" +
        Paint(fmt::format("  {:>11} {:>14} {:>9} {:>11} {:>11} {:>11} {:>11}", "GROWTH", "BYTES",
                          "BLOCKS", "BEFORE", "AFTER", "TOTAL", "TEMPORARY"),
              Emphasis::kInTheDistance, style_.colour) +
        "\n";
    for (std::size_t i = 0; i < shown; ++i) {
      text += Columns(*sites[i]) + "  " +
              Paint(Printable(sites[i]->name), Emphasis::kOwnFrame,
                    sites[i]->is_users ? style_.colour : Colour::kOff);
      if (!sites[i]->place.empty()) {
        text += "  " + Printable(RelativePath(sites[i]->place, style_.base_directory));
      }
      text += "\n";
    }
    if (shown == sites.size()) return text;
    RecordingSiteChange rest;
    for (std::size_t i = shown; i < sites.size(); ++i) {
      rest.before += sites[i]->before;
      rest.after += sites[i]->after;
    }
    return text + Columns(rest) + fmt::format("  {} more\n", sites.size() - shown);
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

Json ChangeJson(const RecordingSiteChange& change) {
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
  return DiffWriter(diff, options, style).Text();
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
    site.update(ChangeJson(diff.sites[i]));
    sites.push_back(std::move(site));
  }
  json["sites"] = std::move(sites);
  return json;
}

}  // namespace leakgate
