#include "runner/symbols/nt/msvc_names.h"

#include <algorithm>
#include <array>
#include <optional>

#include "runner/symbols/name_text.h"

namespace leakgate {
namespace {

// Returns how many bytes at the begin of `text` are `word`; 0 if it does not begin so.
std::size_t Skip(std::string_view text, std::string_view word) {
  return text.starts_with(word) ? word.size() : 0;
}

std::size_t SkipAnonymous(std::string_view text) {
  return std::max(Skip(text, "`anonymous namespace'"), Skip(text, "`anonymous-namespace'"));
}

// A key stands in front of a type, so behind '<', ',' or '('.
std::size_t SkipKey(std::string_view text, std::string_view before) {
  if (before.empty() || std::string_view("<,( ").find(before.back()) == std::string_view::npos) {
    return 0;
  }
  constexpr std::array<std::string_view, 4> kKeys = {"class ", "struct ", "union ", "enum "};
  for (const std::string_view key : kKeys) {
    if (text.starts_with(key)) return key.size();
  }
  return 0;
}

// Returns the name between the brackets; nothing if no lambda begins here.
std::optional<std::string_view> LambdaAt(std::string_view text) {
  constexpr std::string_view kBegin = "<lambda";
  const std::size_t end = text.find('>');
  if (!text.starts_with(kBegin) || end == std::string_view::npos) return std::nullopt;
  return text.substr(1, end - 1);
}

}  // namespace

std::string ItaniumSpelling(std::string_view name) {
  if (name.starts_with("_Z")) return Demangle(std::string(name));
  std::string spelt;
  while (!name.empty()) {
    if (const std::size_t anonymous = SkipAnonymous(name); anonymous != 0) {
      spelt += "(anonymous namespace)";
      name.remove_prefix(anonymous);
    } else if (const std::size_t key = SkipKey(name, spelt); key != 0) {
      name.remove_prefix(key);
    } else if (const auto lambda = LambdaAt(name)) {
      spelt.append("{").append(*lambda).append("}");
      name.remove_prefix(lambda->size() + 2);
    } else if (name.front() == ',' && !spelt.ends_with("operator")) {
      spelt += ", ";
      name.remove_prefix(1);
      name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
    } else {
      spelt += name.front();
      name.remove_prefix(1);
    }
  }
  return spelt;
}

}  // namespace leakgate
