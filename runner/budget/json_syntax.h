// Says in plain words why a text is not JSON. Pure.
#pragma once

#include <string>
#include <string_view>

namespace leakgate {

// `read` is the text up to and including the token that the parser stumbled
// over, `what` is what nlohmann/json says of it. "problem; remedy".
[[nodiscard]] std::string ExplainSyntaxError(std::string_view read, std::string_view what);

}  // namespace leakgate
