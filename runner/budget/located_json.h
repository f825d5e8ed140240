// Lines and columns of a text, from offsets. Pure.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "runner/base/expected.h"

namespace leakgate {

// As editors count: from 1. A column is in bytes.
struct TextPosition {
  int line = 1;
  int column = 1;

  friend bool operator==(const TextPosition&, const TextPosition&) = default;
};

class TextLines {
 public:
  explicit TextLines(std::string_view text);

  // A line break belongs to the line that it ends.
  [[nodiscard]] TextPosition At(std::size_t offset) const;

 private:
  std::vector<std::size_t> begins_;  // of each line; never empty
};

// The length of the byte order mark that `text` begins with; 0 without one.
[[nodiscard]] std::size_t ByteOrderMarkLength(std::string_view text);

// Says in plain words why a text is not JSON. Pure.

// `read` is the text up to and including the token that the parser stumbled
// over, `what` is what nlohmann/json says of it. "problem; remedy".
[[nodiscard]] std::string ExplainSyntaxError(std::string_view read, std::string_view what);

// JSON with places: each value knows where it stands in the text, and the
// members of an object keep their order. What nlohmann/json's own tree lacks,
// and what a message about a budget file, or an edit of one, needs.

enum class JsonKind { kNull, kBoolean, kNumber, kString, kArray, kObject };

struct LocatedMember;

struct LocatedValue {
  JsonKind kind = JsonKind::kNull;
  int line = 1;
  int column = 1;
  std::size_t begin = 0;  // offsets into the text: its first byte,
  std::size_t end = 0;    // and one past its last
  std::string text;       // of a string: its content; of a number, true, false, null: as written
  std::vector<LocatedValue> elements;  // of an array
  std::vector<LocatedMember> members;  // of an object, in the file's order; no key twice

  // The value of a member; nullptr if there is none.
  [[nodiscard]] const LocatedValue* Find(std::string_view key) const;
};

struct LocatedMember {
  std::string key;
  int line = 1;  // of the key, like the next
  int column = 1;
  LocatedValue value;
};

// Arrays and objects may be nested this deep, an object may have so many keys, an array so many
// elements, a text so many bytes, and a file so many values: then the time to read it, and to
// ask what it permits, grows as its size does, and so does the memory.
inline constexpr std::size_t kMaxJsonDepth = 64;
inline constexpr std::size_t kMaxJsonKeys = 256;
inline constexpr std::size_t kMaxJsonElements = 10'000;
inline constexpr std::size_t kMaxJsonTextBytes = 1 << 16;
inline constexpr std::size_t kMaxJsonValues = 1'000'000;

// Parses `text`. A key that an object holds twice is an error, as are more than the
// above and whatever JSON does not allow: "FILE:LINE:COLUMN: problem; remedy".
[[nodiscard]] Expected<LocatedValue> ParseLocatedJson(const std::filesystem::path& file,
                                                      std::string_view text);

// The usage error "FILE:LINE:COLUMN: PROBLEM".
[[nodiscard]] Unexpected ErrorAt(const std::filesystem::path& file, TextPosition position,
                                 std::string_view problem);

}  // namespace leakgate
