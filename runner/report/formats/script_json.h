// JSON as the text of an HTML <script> element. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace leakgate {

// Compact JSON that no name in it can end early: a '<' is written as \u003c, so there
// is neither "</script>" nor "<!--", and the line separators U+2028 and U+2029, which
// old JavaScript takes for ends of lines, are escaped as well. What is not UTF-8 comes
// out as U+FFFD.
[[nodiscard]] std::string ScriptJson(const nlohmann::ordered_json& json);

}  // namespace leakgate
