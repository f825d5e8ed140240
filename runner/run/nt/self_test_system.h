// What the self-test says of the system itself: which it is, and which of its policies are on.
#pragma once

#include <vector>

#include "runner/run/doctor.h"

namespace leakgate {

[[nodiscard]] std::vector<Check> ChecksOfSystem();

}  // namespace leakgate
