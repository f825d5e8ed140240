#include "runner/heap_tracing/flag_journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runner/base/path_text.h"

namespace leakgate {
namespace {

using Json = nlohmann::json;

constexpr std::uint32_t kHeapTracing = 1;
constexpr std::size_t kLongestName = 255;  // of a key
constexpr std::size_t kMostValueBytes = 1024;

// What may be a key's name. A backslash would lead to another key.
bool IsName(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName && std::ranges::none_of(name, [](char c) {
    return static_cast<unsigned char>(c) < ' ' ||
           std::string_view("\\/:*?\"<>|").find(c) != std::string_view::npos;
  });
}

bool IsImage(std::string_view name) { return IsName(name) && name.find('.') != std::string::npos; }

// "PACKAGE!APPLICATION".
bool IsApplication(std::string_view name) {
  const std::size_t mark = name.find('!');
  return IsName(name) && mark != std::string_view::npos && mark > 0 && mark + 1 < name.size();
}

std::uint32_t NumberIn(const FlagValue& value) {
  std::uint32_t number = 0;
  for (std::size_t byte = 0; byte < sizeof(number); ++byte) {
    number |= std::uint32_t{static_cast<unsigned char>(value.bytes[byte])} << (8 * byte);
  }
  return number;
}

bool IsNumber(const FlagValue& value) {
  return value.type == kNumberType && value.bytes.size() == sizeof(std::uint32_t);
}

Json JsonOf(const FlagValue& value) {
  std::string hex;
  for (const char byte : value.bytes)
    hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return {{"type", value.type}, {"bytes", hex}};
}

Json JsonOf(const JournalEntry& entry) {
  Json holders = Json::array();
  for (const FlagHolder& holder : entry.holders) {
    holders.push_back({{"session", holder.session},
                       {"user", holder.user},
                       {"pid", holder.pid},
                       {"begin_seconds", holder.begin_seconds},
                       {"is_recorded", holder.recorder == Recorder::kWpr}});
  }
  return {{"image", entry.image.image},
          {"application", entry.image.application},
          {"former", entry.former ? JsonOf(*entry.former) : Json()},
          {"ours", JsonOf(entry.ours)},
          {"new_keys", entry.new_keys},
          {"is_changing", entry.is_changing},
          {"holders", std::move(holders)}};
}

// The functions below throw what nlohmann/json throws, or std::out_of_range, if something is
// missing, of another type, or impossible.

FlagValue ValueOf(const Json& body) {
  FlagValue value{body.at("type").get<std::uint32_t>(), {}};
  const auto& hex = body.at("bytes").get_ref<const std::string&>();
  if (hex.size() % 2 != 0 || hex.size() > 2 * kMostValueBytes) throw std::out_of_range("bytes");
  const auto digit = [](char c) {
    const std::size_t at = std::string_view("0123456789abcdef").find(c);
    if (at == std::string_view::npos) throw std::out_of_range("bytes");
    return static_cast<unsigned>(at);
  };
  for (std::size_t at = 0; at < hex.size(); at += 2) {
    value.bytes += static_cast<char>(16 * digit(hex[at]) + digit(hex[at + 1]));
  }
  return value;
}

FlagHolder HolderOf(const Json& body) {
  return {body.at("session").get<std::string>(), body.at("user").get<std::string>(),
          body.at("pid").get<std::uint32_t>(), body.at("begin_seconds").get<std::int64_t>(),
          body.at("is_recorded").get<bool>() ? Recorder::kWpr : Recorder::kOthers};
}

JournalEntry EntryOf(const Json& body) {
  JournalEntry entry;
  entry.image = {body.at("image").get<std::string>(), body.at("application").get<std::string>()};
  if (!IsImage(entry.image.image) ||
      (!entry.image.application.empty() && !IsApplication(entry.image.application))) {
    throw std::out_of_range("image");
  }
  if (const Json& former = body.at("former"); !former.is_null()) entry.former = ValueOf(former);
  entry.ours = ValueOf(body.at("ours"));
  entry.new_keys = body.at("new_keys").get<int>();
  if (entry.new_keys < 0 || entry.new_keys > 2) throw std::out_of_range("new_keys");
  entry.is_changing = body.at("is_changing").get<bool>();
  for (const Json& holder : body.at("holders")) entry.holders.push_back(HolderOf(holder));
  return entry;
}

}  // namespace

Expected<FlaggedImage> ParseFlaggedImage(const std::string& option, const std::string& text) {
  const std::size_t colon = text.find(':');
  const FlaggedImage traced = {text.substr(0, colon),
                               colon == std::string::npos ? std::string() : text.substr(colon + 1)};
  if (!IsImage(traced.image)) {
    return UsageError(fmt::format(
        "{} '{}': Windows traces programs by the name of their file alone; write it with its "
        "ending, and without folder, * and ?: nginx.exe",
        option, text));
  }
  if (colon != std::string::npos && !IsApplication(traced.application)) {
    return UsageError(fmt::format(
        "{} '{}': behind the colon stands an application of a package; write the package's full "
        "name and the application's: WWAHost.exe:PACKAGE!APP",
        option, text));
  }
  return traced;
}

std::string TextOf(const FlaggedImage& traced) {
  return traced.application.empty() ? traced.image : traced.image + ':' + traced.application;
}

bool AreSame(const FlaggedImage& left, const FlaggedImage& right) {
  return FoldedPath(TextOf(left)) == FoldedPath(TextOf(right));
}

FlagValue NumberValue(std::uint32_t number) {
  FlagValue value{kNumberType, {}};
  for (std::size_t byte = 0; byte < sizeof(number); ++byte) {
    value.bytes += static_cast<char>(number >> (8 * byte));
  }
  return value;
}

FlagValue WithHeapTracing(const std::optional<FlagValue>& value) {
  return NumberValue(kHeapTracing | (value && IsNumber(*value) ? NumberIn(*value) : 0));
}

std::string TextOf(const std::optional<FlagValue>& value) {
  if (!value) return "none";
  if (IsNumber(*value)) return fmt::format("{:#x}", NumberIn(*value));
  return fmt::format("{} bytes of type {}", value->bytes.size(), value->type);
}

std::string FlagJournalText(const FlagJournal& journal) {
  Json entries = Json::array();
  for (const JournalEntry& entry : journal) entries.push_back(JsonOf(entry));
  return Json{{"version", 1}, {"flags", std::move(entries)}}.dump(1, ' ', false,
                                                                  Json::error_handler_t::replace);
}

Expected<FlagJournal> ReadFlagJournal(std::string_view text) {
  try {
    const Json body = Json::parse(text);
    if (body.at("version").get<int>() != 1) {
      return InconclusiveError("a later leakgate has written it; use that one");
    }
    FlagJournal journal;
    for (const Json& entry : body.at("flags")) journal.push_back(EntryOf(entry));
    return journal;
  } catch (const std::exception&) {
    return InconclusiveError("it is no journal of leakgate's");
  }
}

}  // namespace leakgate
