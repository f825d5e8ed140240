// `leakgate doctor`: finds out whether a program can be gated on this machine, with the same code
// that a run uses. The program is launched suspended and killed, so none of its code runs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/process/image_inspection.h"
#include "runner/symbols/debug_facts.h"

namespace leakgate {

enum class CheckResult {
  kOk,
  kWarning,  // the program can be gated, but a report will say less
  kNo,       // the program cannot be gated
};

// The result of one check: "ok  lines: in the file".
struct Check {
  CheckResult result = CheckResult::kOk;
  std::string subject;
  std::string text;  // one line: what was found and, unless it is kOk, what to do

  friend bool operator==(const Check&, const Check&) = default;
};

struct DoctorRequest {
  std::string program;  // as typed
  std::vector<std::string> arguments;
  std::filesystem::path agent;
};

// Returns the checks, the most important first. Returns an error if there is no such program.
// Called on the main thread, before any other thread is started.
[[nodiscard]] Expected<std::vector<Check>> CheckProgram(const DoctorRequest& request);

// Each of these turns facts into a check. Pure.
[[nodiscard]] Check CheckFramework(LinkedFramework linked);
[[nodiscard]] Check CheckSymbols(const DebugFacts& facts);
[[nodiscard]] Check CheckLines(const DebugFacts& facts);
[[nodiscard]] Check CheckUnwinding(const DebugFacts& facts);
// `limit` is that of the program's address space in bytes, if it has one.
[[nodiscard]] Check CheckAddressSpace(std::optional<std::uint64_t> limit);

}  // namespace leakgate
