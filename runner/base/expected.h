// The runner's result type: a value, or an Error that says what failed, on
// which input, and what to do. Printed in one place, runner/main.cpp.
#pragma once

#include <string>
#include <tl/expected.hpp>

namespace leakgate {

// leakgate's own exit codes. They replace only a program's 0.
enum class ExitCode : int {
  kPass = 0,
  kOverBudget = 1,
  kUsage = 2,         // bad command line or budget file, program not found
  kInconclusive = 3,  // refused, could not be measured, timed out, internal
};

struct Error {
  std::string message;  // one line, no trailing newline or full stop
  ExitCode exit_code = ExitCode::kInconclusive;
};

template <typename T>
using Expected = tl::expected<T, Error>;

using Unexpected = tl::unexpected<Error>;

inline Unexpected UsageError(std::string message) {
  return Unexpected(Error{std::move(message), ExitCode::kUsage});
}

inline Unexpected InconclusiveError(std::string message) {
  return Unexpected(Error{std::move(message), ExitCode::kInconclusive});
}

}  // namespace leakgate
