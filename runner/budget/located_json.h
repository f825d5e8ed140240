// JSON in which each value knows its place in the text, and the members of an object keep their
// order. Messages about a budget file need that, and so does editing one; nlohmann/json's own tree
// has neither. All functions are pure.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "runner/base/expected.h"

namespace leakgate {

// Both count from 1, as editors do. A column is in bytes.
struct TextPosition {
  int line = 1;
  int column = 1;

  friend bool operator==(const TextPosition&, const TextPosition&) = default;
};

enum class JsonKind { kNull, kBoolean, kNumber, kString, kArray, kObject };

struct LocatedMember;

struct LocatedValue {
  JsonKind kind = JsonKind::kNull;
  int line = 1;
  int column = 1;
  std::size_t begin = 0;  // the offset of its first byte
  std::size_t end = 0;    // the offset behind its last byte
  std::string text;       // a string's content; a number, true, false or null as it is written
  std::vector<LocatedValue> elements;  // of an array
  std::vector<LocatedMember> members;  // of an object, in the file's order; no key occurs twice

  // Returns the value of the member with this key; nullptr if there is none.
  [[nodiscard]] const LocatedValue* Find(std::string_view key) const;
};

struct LocatedMember {
  std::string key;
  int line = 1;    // of the key
  int column = 1;  // of the key
  LocatedValue value;
};

// The limits on nesting, keys of an object, elements of an array, bytes of a string, and values of
// a file. They keep time and memory proportional to the file's size, both for reading it and for
// finding out what it permits.
inline constexpr std::size_t kMaxJsonDepth = 64;
inline constexpr std::size_t kMaxJsonKeys = 256;
inline constexpr std::size_t kMaxJsonElements = 10'000;
inline constexpr std::size_t kMaxJsonTextBytes = 1 << 16;
inline constexpr std::size_t kMaxJsonValues = 1'000'000;

// Parses `text`. Fails if it is not JSON, if an object has a key twice, or if a limit above is
// exceeded. The error is a usage error of the form "FILE:LINE:COLUMN: problem; remedy".
[[nodiscard]] Expected<LocatedValue> ParseLocatedJson(const std::filesystem::path& file,
                                                      std::string_view text);

// Returns the usage error "FILE:LINE:COLUMN: PROBLEM".
[[nodiscard]] Unexpected ErrorAt(const std::filesystem::path& file, TextPosition position,
                                 std::string_view problem);

}  // namespace leakgate
