// What a session's owner and its commands tell each other, as JSON. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "runner/base/expected.h"
#include "runner/sessions/session_status.h"

namespace leakgate {

[[nodiscard]] nlohmann::json ToJson(const SessionStatus& status);
// What is missing in `body`, or of another type, stays as it is in an empty status.
[[nodiscard]] SessionStatus StatusFromJson(const nlohmann::json& body);

[[nodiscard]] nlohmann::json ToJson(const SessionScope& scope);
// An error names what is no image.
[[nodiscard]] Expected<SessionScope> ScopeFromJson(const nlohmann::json& body);

}  // namespace leakgate
