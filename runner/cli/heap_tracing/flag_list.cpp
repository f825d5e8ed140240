#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <nlohmann/json.hpp>

#include "runner/cli/heap_tracing/image_session.h"
#include "runner/cli/terminal.h"

namespace leakgate {
namespace {

using Json = nlohmann::ordered_json;

std::string UtcText(std::int64_t seconds) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

// "set to 0x1, before: none", or what it is if somebody has changed it.
std::string StateText(const ListedFlag& flag) {
  std::string text = fmt::format("TracingFlags {}", TextOf(flag.now));
  if (!flag.entry) return text;
  text += fmt::format(", before: {}", TextOf(flag.entry->former));
  if (flag.now != flag.entry->ours) {
    text += fmt::format(", changed by somebody else: was set to {}", TextOf(flag.entry->ours));
  }
  return text;
}

std::string OwnersText(const ListedFlag& flag) {
  if (!flag.entry) {
    return fmt::format("  not by leakgate, not after {}\n", UtcText(flag.change_seconds));
  }
  std::string text;
  for (const FlagHolder& holder : flag.entry->holders) {
    text += fmt::format("  session {}, by {} (PID {}), since {}\n", Printable(holder.session),
                        Printable(holder.user), holder.pid, UtcText(holder.begin_seconds));
  }
  return text;
}

Json JsonOfFlag(const ListedFlag& flag) {
  Json body = {{"image", flag.image.image}};
  if (!flag.image.application.empty()) body["application"] = flag.image.application;
  body["now"] = TextOf(flag.now);
  body["is_ours"] = flag.entry && flag.now == flag.entry->ours;
  if (!flag.entry) {
    body["changed"] = UtcText(flag.change_seconds);
    return body;
  }
  body["before"] = TextOf(flag.entry->former);
  body["set"] = TextOf(flag.entry->ours);
  body["sessions"] = Json::array();
  for (const FlagHolder& holder : flag.entry->holders) {
    body["sessions"].push_back({{"name", holder.session},
                                {"user", holder.user},
                                {"pid", holder.pid},
                                {"since", UtcText(holder.begin_seconds)}});
  }
  return body;
}

}  // namespace

std::string FlagListText(const FlagSurvey& survey) {
  if (survey.flags.empty()) return "no image is traced by its name\n";
  std::string text;
  for (const ListedFlag& flag : survey.flags) {
    text += fmt::format("{}: {}\n", Printable(TextOf(flag.image)), StateText(flag));
    text += OwnersText(flag);
  }
  return text;
}

std::string FlagListJson(const FlagSurvey& survey, const std::string& others) {
  Json body = Json::parse(others);
  body["images"] = Json::array();
  body["problems"] = survey.problems;
  for (const ListedFlag& flag : survey.flags) body["images"].push_back(JsonOfFlag(flag));
  return ConsoleJson(body, 2);
}

}  // namespace leakgate
