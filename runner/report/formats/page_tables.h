// The tables of the HTML report, and its JSON as the text of a <script> element. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <ostream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runner/result/finding.h"

namespace leakgate {

// Returns JSON in which no name can end the element. A '<' becomes \u003c, so there is neither
// "</script>" nor "<!--". The line separators U+2028 and U+2029, which old JavaScript takes for
// ends of lines, are escaped as well.
[[nodiscard]] std::string EscapedForScript(std::string_view json);

// Returns compact JSON that is escaped so. Bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string ScriptJson(const nlohmann::ordered_json& json);

// Writes ",name: value" into the JSON of a page.
void WritePageMember(std::ostream& out, std::string_view name, const nlohmann::ordered_json& value);

// What many findings of the HTML report share is written once: strings, frames and call stacks. The
// same calls in the same order give the same tables.
//
//   strings   "", "net::Pool::Grow()", "/src/pool.cc", ...      an index stands for each
//   frames    function, file, line, module, offset, flags, ...  six numbers a frame
//   stacks    parent, frame, ...                                two numbers a node
//
// A stack is a node of a tree whose root, node 0, is outside all: its frame and those
// of its ancestors are the stack, innermost first. The node of
//
//   malloc <- Grow <- TestBody
//
// is `malloc` below `Grow` below `TestBody` below the root, so that stacks share their
// outer frames, and the tree is the flame graph's.
class PageTables {
 public:
  PageTables();

  // Returns the index of `text`. That of "" is 0.
  int String(std::string_view text);
  // Returns the node of a stack, whose innermost frame comes first; 0 if it is empty.
  int Stack(const std::vector<leakgate::Frame>& frames);

  // Return how large the tables are so far: in nodes, and about in bytes of JSON.
  [[nodiscard]] std::size_t node_count() const { return nodes_.size(); }
  [[nodiscard]] std::size_t bytes() const;

  // Flags of a frame.
  static constexpr int kInlined = 1;
  static constexpr int kUsers = 2;  // the user's own code

  // Returns an object with "strings", "frames" and "stacks".
  [[nodiscard]] nlohmann::ordered_json ToJson() const;
  // Writes them as members of the page's JSON.
  void WriteMembers(std::ostream& out) const;

 private:
  static constexpr std::size_t kFrameNumbers = 6;
  using FrameNumbers = std::array<int, kFrameNumbers>;

  // Finds strings by a view, without a copy.
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };

  int Frame(const leakgate::Frame& frame);

  std::vector<std::string> strings_;
  std::size_t string_bytes_ = 0;
  std::unordered_map<std::string, int, TextHash, std::equal_to<>> string_index_;
  std::vector<FrameNumbers> frames_;
  std::map<FrameNumbers, int> frame_index_;  // without kUsers
  std::vector<std::pair<int, int>> nodes_;   // parent and frame
  std::unordered_map<std::uint64_t, int> node_index_;
};

}  // namespace leakgate
