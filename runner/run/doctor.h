// `leakgate doctor`: whether a program can be gated here, asked of the same code that
// a run goes through. The program is launched suspended and killed: not one of its
// instructions runs.
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
  kWarning,  // it can be gated, but a report will say less
  kNo,       // it cannot be gated
};

// One thing that was looked at: "ok  lines: in the file".
struct Check {
  CheckResult result = CheckResult::kOk;
  std::string subject;
  std::string text;  // what was found, and what to do if it is not kOk; one line

  friend bool operator==(const Check&, const Check&) = default;
};

struct DoctorRequest {
  std::string program;  // as typed
  std::vector<std::string> arguments;
  std::filesystem::path agent;
};

// Returns the checks in the order in which a person wants to know; an error means that there is no
// such program. Called on the main thread, before any other is started.
[[nodiscard]] Expected<std::vector<Check>> CheckProgram(const DoctorRequest& request);

// What the checks make of what was found. Pure.
[[nodiscard]] Check CheckFramework(TestFramework framework);
[[nodiscard]] Check CheckSymbols(const DebugFacts& facts);
[[nodiscard]] Check CheckLines(const DebugFacts& facts);
[[nodiscard]] Check CheckUnwinding(const DebugFacts& facts);
// `limit`: of the program's address space, in bytes; nullopt: none.
[[nodiscard]] Check CheckAddressSpace(std::optional<std::uint64_t> limit);

}  // namespace leakgate
