// `leakgate doctor --self-test`: proves on the user's machine what leakgate takes for granted of
// Windows, by programs that come with leakgate and are traced as a run does it. It takes seconds.
#pragma once

#include <filesystem>
#include <vector>

#include "runner/base/expected.h"
#include "runner/run/doctor.h"

namespace leakgate {

struct SelfTestRequest {
  std::filesystem::path agent;
  std::filesystem::path folder;  // of the programs that are traced
};

// Returns a check for each assumption, kNo where it does not hold. Returns an error if this system
// has no self-test, or if the programs are not there. Called on the main thread, before any other
// thread is started.
[[nodiscard]] Expected<std::vector<Check>> TestSystem(const SelfTestRequest& request);

}  // namespace leakgate
