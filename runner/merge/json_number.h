// JSON's rules of numbers.
#pragma once

#include <string_view>

#include "runner/merge/json_text.h"

namespace leakgate {

struct JsonNumber {
  std::string_view text;    // good until the next token
  bool is_integer = false;  // neither a fraction nor an exponent
};

// The number that begins with the next byte. False: the text has the problem.
bool ReadJsonNumber(JsonText& text, JsonNumber& number);

}  // namespace leakgate
