#include "runner/run/doctor.h"

#include <fmt/format.h>

#include "runner/attach/program_environment.h"
#include "runner/base/nt/win32.h"
#include "runner/process/process_image.h"
#include "runner/region/region_file.h"
#include "runner/run/launcher.h"
#include "runner/run/preparation.h"

namespace leakgate {
namespace {

Check FromResult(std::string subject, const Expected<void>& result, std::string when_ok) {
  if (result) return {CheckResult::kOk, std::move(subject), std::move(when_ok)};
  return {CheckResult::kNo, std::move(subject), result.error().message};
}

Expected<void> DropValue(const auto& expected) {
  if (!expected) return Unexpected(expected.error());
  return {};
}

Check CheckImage(const std::string& name, const Expected<ImageInspection>& inspection) {
  if (!inspection) return {CheckResult::kNo, "program", inspection.error().message};
  if (inspection->refusal) {
    return {CheckResult::kNo, "program", fmt::format("{}: {}", name, *inspection->refusal)};
  }
  return {CheckResult::kOk, "program", fmt::format("{}: x86-64", name)};
}

}  // namespace

Expected<std::vector<Check>> CheckProgram(const DoctorRequest& request) {
  const InheritedState inherited = InheritedState::Take();
  LEAKGATE_TRY_ASSIGN(const std::filesystem::path program, FindProgram(request.program));
  const Expected<ImageInspection> inspection = InspectImage(program);
  std::vector<Check> checks = {CheckImage(Utf8Of(program.native()), inspection)};
  if (checks.front().result == CheckResult::kOk) {
    const Expected<void> launched =
        DropValue(SuspendedProcess::Launch({.program = program,
                                            .name = request.program,
                                            .arguments = request.arguments,
                                            .environment = OwnEnvironment(),
                                            .signal_mask = {},
                                            .inherited = inherited}));
    if (!launched && launched.error().exit_code == ExitCode::kUsage) {
      return Unexpected(launched.error());
    }
    checks.push_back(FromResult("launch", launched, "stops before its first instruction"));
  }
  checks.push_back(
      FromResult("agent", RequireAgent(request.agent), Utf8Of(request.agent.native())));
  if (inspection) {
    checks.push_back(CheckFramework(inspection->linked));
    const DebugFacts facts = ReadDebugFacts(program);
    checks.insert(checks.end(), {CheckSymbols(facts), CheckLines(facts)});
  }
  checks.push_back(FromResult("memory", DropValue(RegionFile::Create({})),
                              "the tables of a traced process can be had"));
  return checks;
}

}  // namespace leakgate
