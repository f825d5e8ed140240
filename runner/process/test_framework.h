// The test frameworks whose tests leakgate tells apart, and how the agent learns from each of them
// where tests begin and end.
#pragma once

#include <functional>
#include <string_view>

namespace leakgate {

enum class TestFramework { kNone, kGoogleTest, kCatch2, kDoctest, kBoostTest };

// What a program's file contains decides how the agent learns where its tests begin.
struct LinkedFramework {
  TestFramework framework = TestFramework::kNone;
  // Leakgate's listener is there, too: it tells. Each framework has its own.
  bool has_listener = false;
  // GoogleTest has a stream of its events, which it has not on Windows.
  bool has_stream = true;

  // Without a listener, only GoogleTest tells where tests begin, by its stream.
  [[nodiscard]] bool TellsTests() const {
    return has_listener || (framework == TestFramework::kGoogleTest && has_stream);
  }
};

// What a program's file tells.
struct FileContents {
  std::function<bool(std::string_view text)> has_constant;  // among its constants
  std::function<bool(std::string_view name)>
      needs_library;  // whose name begins with "lib" and so on
};
[[nodiscard]] LinkedFramework FindFramework(const FileContents& file);

// Returns "GoogleTest", "Catch2" and so on, as their users write it.
[[nodiscard]] std::string_view NameOf(TestFramework framework);

// Returns the header by which the tests of another framework than GoogleTest are told apart, as it
// is included: "leakgate/catch2.h".
[[nodiscard]] std::string_view HeaderFor(TestFramework framework);

}  // namespace leakgate
