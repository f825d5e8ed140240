// The rows of the self-test about Windows' own heap tracing. None of them is a failure: only
// --engine etw and sessions by an image's name need it.
#pragma once

#include <vector>

#include "runner/run/self_test.h"

namespace leakgate {

// Whether the Windows Performance Toolkit can start sessions, whether they tell of a program's
// heaps, and whether the flags of images in the registry can be read and changed. Changes nothing.
[[nodiscard]] std::vector<Check> ChecksOfHeapTracing(const SelfTestRequest& request);

}  // namespace leakgate
