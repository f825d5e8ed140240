// JSON with line numbers: each value knows the line that it begins on, and the
// members of an object keep their order. What nlohmann/json's own tree lacks,
// and what a message about a budget file needs.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "runner/util/expected.h"

namespace leakgate {

enum class JsonKind { kNull, kBoolean, kNumber, kString, kArray, kObject };

struct LocatedMember;

struct LocatedValue {
  JsonKind kind = JsonKind::kNull;
  int line = 1;
  std::string text;  // of a string: its content; of a number, true, false, null: as written
  std::vector<LocatedValue> elements;  // of an array
  std::vector<LocatedMember> members;  // of an object, in the file's order; no key twice
};

struct LocatedMember {
  std::string key;
  int line = 1;  // of the key
  LocatedValue value;
};

// Arrays and objects may be nested this deep.
inline constexpr std::size_t kMaxJsonDepth = 64;

// Parses `text`. A key that an object holds twice is an error, as are deeper
// nesting and whatever JSON does not allow: "FILE:LINE: problem; remedy".
[[nodiscard]] Expected<LocatedValue> ParseLocatedJson(const std::filesystem::path& file,
                                                      std::string_view text);

// The usage error "FILE:LINE: PROBLEM".
[[nodiscard]] Unexpected ErrorAt(const std::filesystem::path& file, int line,
                                 std::string_view problem);

}  // namespace leakgate
