// The runner's result type: a value, or an Error that says what failed, on which input, and what
// to do. Only runner/main.cpp prints errors.
#pragma once

#include <string>
#include <tl/expected.hpp>

namespace leakgate {

// leakgate's own exit codes. An exit code of the program under test takes precedence over them,
// unless it is 0.
enum class ExitCode : int {
  kPass = 0,
  kOverBudget = 1,
  kUsage = 2,         // the command line or a budget file is wrong, or the program was not found
  kInconclusive = 3,  // the program was refused, was not measured or timed out, or leakgate failed
};
// The exit code of a command that has done what it was asked.
inline constexpr int kExitPass = static_cast<int>(ExitCode::kPass);

struct Error {
  std::string message;  // one line, without newline and full stop at the end
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
