#include "runner/report/formats/page_tables.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "runner/attribution/code_owner.h"
#include "runner/report/json/json_text.h"

namespace leakgate {
namespace {

constexpr std::string_view kLineSeparators = "\xE2\x80";  // and then A8 or A9

bool MayBeEscaped(char byte) { return byte == '<' || byte == kLineSeparators[0]; }

// Returns how many bytes at `at` must be escaped together; 0 if the byte stays as it is.
std::size_t EscapeAt(std::string_view text, std::size_t at, std::string& escaped) {
  if (text[at] == '<') {
    escaped += "\\u003c";
    return 1;
  }
  if (text.substr(at, 2) != kLineSeparators || at + 2 >= text.size()) return 0;
  if (text[at + 2] != '\xA8' && text[at + 2] != '\xA9') return 0;
  escaped += text[at + 2] == '\xA8' ? "\\u2028" : "\\u2029";
  return 3;
}

using Json = nlohmann::ordered_json;

template <typename Value, typename Index>
int Intern(const Value& value, std::vector<Value>& values, Index& index) {
  const auto [entry, is_new] = index.try_emplace(value, static_cast<int>(values.size()));
  if (is_new) values.push_back(value);
  return entry->second;
}

}  // namespace

std::string EscapedForScript(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size() + text.size() / 64);
  for (std::size_t at = 0; at < text.size();) {
    std::size_t plain = at;
    while (plain < text.size() && !MayBeEscaped(text[plain])) ++plain;
    escaped.append(text.substr(at, plain - at));
    if (plain == text.size()) break;
    const std::size_t length = EscapeAt(text, plain, escaped);
    if (length == 0) escaped += text[plain];
    at = plain + (length == 0 ? 1 : length);
  }
  return escaped;
}

std::string ScriptJson(const nlohmann::ordered_json& json) {
  return EscapedForScript(CompactJson(json));
}

void WritePageMember(std::ostream& out, std::string_view name,
                     const nlohmann::ordered_json& value) {
  out << ",\n\"" << name << "\":" << ScriptJson(value);
}

PageTables::PageTables() : nodes_{{0, 0}} { String(""); }

int PageTables::String(std::string_view text) {
  const auto known = string_index_.find(text);
  if (known != string_index_.end()) return known->second;
  constexpr std::size_t kQuotesAndComma = 3;
  string_bytes_ += text.size() + kQuotesAndComma;
  return Intern(std::string(text), strings_, string_index_);
}

int PageTables::Frame(const leakgate::Frame& frame) {
  const std::string offset = fmt::format("{:#x}", frame.module_offset);
  FrameNumbers numbers = {String(frame.function), String(frame.file), frame.line,
                          String(frame.module),   String(offset),     frame.inlined ? kInlined : 0};
  const auto [entry, is_new] = frame_index_.try_emplace(numbers, static_cast<int>(frames_.size()));
  if (is_new) {
    // kUsers follows from the rest, and takes longer to find out.
    numbers.back() |= IsUserFrame(frame) ? kUsers : 0;
    frames_.push_back(numbers);
  }
  return entry->second;
}

int PageTables::Stack(const std::vector<leakgate::Frame>& frames) {
  int node = 0;
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
    const std::pair<int, int> next = {node, Frame(*frame)};
    const std::uint64_t key =
        static_cast<std::uint64_t>(next.first) << 32U | static_cast<std::uint32_t>(next.second);
    const auto [entry, is_new] = node_index_.try_emplace(key, static_cast<int>(nodes_.size()));
    if (is_new) nodes_.push_back(next);
    node = entry->second;
  }
  return node;
}

std::size_t PageTables::bytes() const {
  constexpr std::size_t kNumberBytes = 6;  // and its comma
  return string_bytes_ + kNumberBytes * (kFrameNumbers * frames_.size() + 2 * nodes_.size());
}

Json PageTables::ToJson() const {
  Json frames = Json::array();
  for (const FrameNumbers& frame : frames_) {
    for (const int number : frame) frames.push_back(number);
  }
  Json stacks = Json::array();
  for (const auto& [parent, frame] : nodes_) {
    stacks.push_back(parent);
    stacks.push_back(frame);
  }
  return {{"strings", strings_}, {"frames", std::move(frames)}, {"stacks", std::move(stacks)}};
}

void PageTables::WriteMembers(std::ostream& out) const {
  const Json tables = ToJson();
  for (const auto& [name, table] : tables.items()) WritePageMember(out, name, table);
}

}  // namespace leakgate
