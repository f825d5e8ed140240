// What can be told of a program's file before it runs: whether the agent can
// trace it at all, and whether it is a GoogleTest binary.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "runner/base/expected.h"

namespace leakgate {

// How the program learns where its tests begin and end.
enum class TestFramework {
  kNone,                // no GoogleTest found in the file
  kGoogleTest,          // GoogleTest without leakgate's listener
  kGoogleTestListener,  // leakgate's listener is linked in
};

struct ImageInspection {
  std::optional<std::string> refusal;  // why it cannot be traced, and what to do; one line
  // The same, but for the file's rights: for a process that runs already.
  std::optional<std::string> refusal_of_running;
  TestFramework framework = TestFramework::kNone;
};

// Whether `image` is what loads programs, and can be started to run one: ld.so ./binary.
[[nodiscard]] bool IsDynamicLinker(const std::filesystem::path& image);

// Inspects the file that the kernel executes. Fails if it cannot be read.
[[nodiscard]] Expected<ImageInspection> InspectImage(const std::filesystem::path& image);

}  // namespace leakgate
