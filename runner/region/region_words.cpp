#include "runner/region/region_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace leakgate {
namespace {

struct NamedEvent {
  std::uint32_t event;
  std::string_view name;
};

constexpr std::array kEvents = {
    NamedEvent{kStacksOfAlloc, "alloc"}, NamedEvent{kStacksOfRealloc, "realloc"},
    NamedEvent{kStacksOfFree, "free"}, NamedEvent{kCountsAllocations, "churn"}};

constexpr std::string_view kNoStacks = "none";
constexpr std::uint32_t kStacksOfNothing = 0;

// Returns 0 if no event has this name.
std::uint32_t FindEvent(std::string_view name) {
  for (const NamedEvent& it : kEvents) {
    if (it.name == name) return it.event;
  }
  return 0;
}

}  // namespace

Expected<std::uint32_t> ParseStackEvents(std::string_view text) {
  if (text.empty()) {
    return UsageError(
        "--stacks names no stack event; write one or more of alloc, realloc, free and churn, or "
        "none: --stacks alloc,realloc");
  }
  if (text == kNoStacks) return kStacksOfNothing;
  std::uint32_t events = 0;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string_view name = text.substr(at, comma - at);
    const std::uint32_t event = FindEvent(name);
    if (event == 0) {
      return UsageError(fmt::format(
          "invalid stack event '{}': there are alloc, realloc, free and churn, and none for no "
          "event; write for example --stacks alloc,realloc",
          name));
    }
    if ((events & event) != 0) {
      return UsageError(fmt::format(
          "duplicate stack event '{}': name each of alloc, realloc, free and churn once "
          "at most",
          name));
    }
    events |= event;
    at = comma + 1;
  }
  return events;
}

std::vector<std::string> StackEventNames(std::uint32_t events) {
  std::vector<std::string> names;
  for (const NamedEvent& it : kEvents) {
    if ((events & it.event) != 0) names.emplace_back(it.name);
  }
  return names;
}

std::string StackEventsText(std::uint32_t events) {
  if (events == kStacksOfNothing) return std::string(kNoStacks);
  return fmt::format("{}", fmt::join(StackEventNames(events), ", "));
}

std::uint32_t StackEventsFromNames(const std::vector<std::string>& names) {
  std::uint32_t events = 0;
  for (const std::string& name : names) events |= FindEvent(name);
  return events;
}

}  // namespace leakgate
