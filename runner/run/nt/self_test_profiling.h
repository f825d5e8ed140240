// The rows of the self-test about what snapshots and recordings need besides blocks.
#pragma once

#include <string>

#include "runner/run/self_test.h"

namespace leakgate {

// Compares the mappings of a program with what it has mapped.
[[nodiscard]] Expected<std::string> TestMappings(const SelfTestRequest& request);

// Reads all events of a program through the buffers of a recording.
[[nodiscard]] Expected<std::string> TestEvents(const SelfTestRequest& request);

}  // namespace leakgate
