// The runner's result type: a value, or an Error that says what failed, on which input, and what
// to do. Only runner/main.cpp prints errors.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

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

// LEAKGATE_TRY evaluates an Expected<void>. If it has an error, the function around it returns that
// error; this function must return an Expected, too. LEAKGATE_TRY_ASSIGN does the same with an
// Expected<T>, and moves its value into the first argument: a lock that nobody names would be
// released at once. Both expand to statements, so never write them after an `if` without braces.
//   LEAKGATE_TRY(file.Close());
//   LEAKGATE_TRY_ASSIGN(const HeapCopy heap, region.CopyHeap());
#define LEAKGATE_TRY(...)                                         \
  if (::leakgate::Expected<void> outcome = __VA_ARGS__; !outcome) \
  return Unexpected(std::move(outcome).error())
#define LEAKGATE_TRY_ASSIGN(declaration, ...) \
  LEAKGATE_TRY_ASSIGN_TO(LEAKGATE_TRY_OUTCOME(__LINE__), declaration, __VA_ARGS__)
#define LEAKGATE_TRY_OUTCOME(line) LEAKGATE_TRY_OUTCOME_OF(line)
#define LEAKGATE_TRY_OUTCOME_OF(line) outcome_of_line_##line
#define LEAKGATE_TRY_ASSIGN_TO(outcome, declaration, ...)      \
  auto outcome = __VA_ARGS__;                                  \
  if (!outcome) return Unexpected(std::move(outcome).error()); \
  declaration = *std::move(outcome)
