// Which snapshots a bundle has, and what is known of the session that they are from.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "runner/base/expected.h"

namespace leakgate {

// Reads the facts of each snapshot, and lists them in `text` for people and in `json` for machines.
// Returns an error if the bundle or a snapshot in it is damaged.
[[nodiscard]] Expected<void> ListBundle(const std::filesystem::path& bundle, std::string& text,
                                        nlohmann::ordered_json& json);

}  // namespace leakgate
