#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runner/cli/commands/history.h"
#include "runner/cli/terminal.h"
#include "runner/region/amount.h"
#include "runner/report/style.h"

namespace leakgate {
namespace {

using Json = nlohmann::ordered_json;

std::string Dump(const Json& json) { return ConsoleJson(json, 1); }

Json TextOrNull(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json ToJson(const HistoryOccasion& occasion) {
  return {{"commit", TextOrNull(occasion.commit)}, {"time", occasion.time}};
}

std::string OrDash(const std::string& text) { return text.empty() ? "-" : text; }

// Returns text such as "3f2a (2026-01-31T12:00:00Z)".
std::string Text(const HistoryOccasion& occasion) {
  if (occasion.commit.empty()) return occasion.time;
  return fmt::format("{} ({})", occasion.commit, occasion.time);
}

// Returns text such as " (+64 B)"; nothing where nothing has changed.
std::string ChangeText(const std::optional<TrendChange>& change) {
  if (!change || !change->is_comparable || (change->bytes == 0 && change->blocks == 0)) return "";
  if (change->bytes == 0) return fmt::format(" ({:+} in blocks)", change->blocks);
  return fmt::format(" ({}{})", change->bytes > 0 ? "+" : "", FormatBytes(change->bytes));
}

// Returns a line about what the change does not count, and why.
std::string LeftOutText(const std::optional<TrendChange>& change) {
  if (!change || change->only_before + change->only_now == 0) return "";
  std::string parts;
  const auto add = [&](std::int64_t tests, const char* when) {
    if (tests == 0) return;
    if (!parts.empty()) parts += ", ";
    parts += fmt::format("{} {}", tests, when);
  };
  add(change->only_before, "at the one before");
  add(change->only_now, "at this one");
  const std::string tests = FormatCount(change->only_before + change->only_now, "test");
  return fmt::format("    {}: {} ran at only one of the two commits ({})\n",
                     change->is_comparable ? "left out of the change" : "nothing to compare", tests,
                     parts);
}

Json ToJson(const TrendChange& change) {
  Json json = {{"only_before", change.only_before}, {"only_now", change.only_now}};
  if (!change.is_comparable) return json;
  json["bytes"] = change.bytes;
  json["blocks"] = change.blocks;
  return json;
}

std::vector<std::string> SplitLines(const std::string& path) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('\n', begin), path.size());
    lines.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

}  // namespace

std::string HistoryText(const HistoryView& view) {
  std::string text = fmt::format(
      "leakgate: {}, {}\n", FormatCount(static_cast<std::int64_t>(view.findings.size()), "finding"),
      FormatCount(static_cast<std::int64_t>(view.flaky.size()), "flaky test"));
  for (const SeenFinding& seen : view.findings) {
    const HistoryFinding& finding = seen.finding;
    text += "  " +
            Printable(fmt::format("{}  {}  {}  {}", OrDash(finding.component),
                                  FormatAmount({finding.bytes, finding.blocks}), finding.test,
                                  finding.call_site)) +
            '\n';
    text += "    " +
            Printable(fmt::format("first seen at {}, last at {}, in {}", Text(seen.first),
                                  Text(seen.last), FormatCount(seen.runs, "run"))) +
            '\n';
  }
  for (const FlakyTest& test : view.flaky) {
    text +=
        "  " +
        Printable(fmt::format("flaky: {} ({}): {} pass, {} over budget, the last at {}", test.test,
                              test.binary, test.passed, test.failed, Text(test.last_failed))) +
        '\n';
  }
  return text;
}

std::string HistoryJson(const HistoryView& view) {
  Json findings = Json::array();
  for (const SeenFinding& seen : view.findings) {
    const HistoryFinding& finding = seen.finding;
    findings.push_back({{"test", finding.test},
                        {"component", TextOrNull(finding.component)},
                        {"call_site", finding.call_site},
                        {"path", SplitLines(finding.path)},
                        {"bytes", finding.bytes},
                        {"blocks", finding.blocks},
                        {"first", ToJson(seen.first)},
                        {"last", ToJson(seen.last)},
                        {"runs", seen.runs}});
  }
  Json flaky = Json::array();
  for (const FlakyTest& test : view.flaky) {
    flaky.push_back({{"binary", test.binary},
                     {"test", test.test},
                     {"component", TextOrNull(test.component)},
                     {"passed", test.passed},
                     {"failed", test.failed},
                     {"last", ToJson(test.last_failed)}});
  }
  return Dump({{"schema", "leakgate-history-1"}, {"findings", findings}, {"flaky", flaky}});
}

std::string TrendText(const std::vector<TrendPoint>& points) {
  if (points.empty()) return "leakgate: nothing yet; add results: leakgate history add\n";
  std::string text;
  const TrendPoint* last = nullptr;
  for (const TrendPoint& point : points) {
    if (last == nullptr || last->subject != point.subject) {
      text += Printable(OrDash(point.subject)) + '\n';
      last = nullptr;
    }
    text += "  " + Printable(Text(point.occasion)) + "  " +
            FormatAmount({point.outstanding_bytes, point.outstanding_blocks}) + " outstanding";
    text += ChangeText(point.change);
    if (point.peak_bytes != 0) text += ", peak " + FormatBytes(point.peak_bytes);
    text += '\n' + LeftOutText(point.change);
    last = &point;
  }
  return text;
}

std::string TrendJson(const std::vector<TrendPoint>& points, const std::string& subject) {
  Json values = Json::array();
  for (const TrendPoint& point : points) {
    Json value = {{subject, TextOrNull(point.subject)},
                  {"commit", TextOrNull(point.occasion.commit)},
                  {"time", point.occasion.time},
                  {"outstanding",
                   {{"bytes", point.outstanding_bytes}, {"blocks", point.outstanding_blocks}}}};
    if (point.change) value["change"] = ToJson(*point.change);
    if (subject != "call_site") value["peak_live_bytes"] = point.peak_bytes;
    values.push_back(std::move(value));
  }
  return Dump({{"schema", "leakgate-trend-1"}, {"by", subject}, {"points", values}});
}

}  // namespace leakgate
