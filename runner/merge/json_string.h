// JSON's rules of strings: escapes, and that they are well-formed UTF-8.
#pragma once

#include <string>
#include <string_view>

#include "runner/merge/json_text.h"

namespace leakgate {

// The string that begins with the next byte, its opening quote, without escapes. `value`
// is a part of the text's buffer or of `scratch`, so it is good until the next token.
// False: the text has the problem.
bool ReadJsonString(JsonText& text, std::string& scratch, std::string_view& value);

}  // namespace leakgate
