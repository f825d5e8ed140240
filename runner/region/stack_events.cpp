#include "runner/region/stack_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace leakgate {
namespace {

struct EventWord {
  std::uint32_t event;
  std::string_view word;
};

constexpr std::array kWords = {EventWord{kStacksOfAlloc, "alloc"},
                               EventWord{kStacksOfRealloc, "realloc"},
                               EventWord{kStacksOfFree, "free"}};

// 0: there is no such.
std::uint32_t EventOf(std::string_view word) {
  for (const EventWord& it : kWords) {
    if (it.word == word) return it.event;
  }
  return 0;
}

}  // namespace

Expected<std::uint32_t> ParseStackEvents(std::string_view text) {
  if (text.empty()) {
    return UsageError(
        "--stacks names no stack event; write one or more of alloc, realloc and free: --stacks "
        "alloc,realloc");
  }
  std::uint32_t events = 0;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string_view word = text.substr(at, comma - at);
    const std::uint32_t event = EventOf(word);
    if (event == 0) {
      return UsageError(
          fmt::format("invalid stack event '{}': there are alloc, realloc and free; write for "
                      "example --stacks alloc,realloc",
                      word));
    }
    if ((events & event) != 0) {
      return UsageError(
          fmt::format("duplicate stack event '{}': name each of alloc, realloc and free once at "
                      "most",
                      word));
    }
    events |= event;
    at = comma + 1;
  }
  return events;
}

std::vector<std::string> WordsOfStackEvents(std::uint32_t events) {
  std::vector<std::string> words;
  for (const EventWord& it : kWords) {
    if ((events & it.event) != 0) words.emplace_back(it.word);
  }
  return words;
}

std::string StackEventsText(std::uint32_t events) {
  return fmt::format("{}", fmt::join(WordsOfStackEvents(events), ", "));
}

std::uint32_t StackEventsFromWords(const std::vector<std::string>& words) {
  std::uint32_t events = 0;
  for (const std::string& word : words) events |= EventOf(word);
  return events;
}

}  // namespace leakgate
