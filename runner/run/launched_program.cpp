#include "runner/run/launched_program.h"

#include <fmt/format.h>

#include <utility>

#include "common/control_protocol.h"
#include "runner/attach/program_environment.h"
#include "runner/process/called_name.h"
#include "runner/process/image_inspection.h"
#include "runner/run/hand_over.h"

namespace leakgate {

Expected<void> RequireTraceable(const std::filesystem::path& program,
                                const SuspendedProcess& process, Refused refused) {
  if (refused == Refused::kNone) return {};
  std::filesystem::path image = process.image();
  if (image.empty()) image = program;
  LEAKGATE_TRY_ASSIGN(const ImageInspection inspection, InspectImage(image));
  std::optional<std::string> why = inspection.refusal;
  if (!why && refused == Refused::kWithoutTests) why = inspection.stream_problem;
  if (!why) return {};
  return InconclusiveError(
      fmt::format("{}: cannot be traced: {}", CalledName(program, image), *why));
}

Expected<std::unique_ptr<LaunchedProgram>> LaunchedProgram::Launch(ProgramLaunch launch) {
  std::unique_ptr<LaunchedProgram> launched(new LaunchedProgram);
  launched->agent_ = launch.agent;
  std::string& failure = launched->failure_;
  LEAKGATE_TRY_ASSIGN(
      launched->server_,
      ControlServer::Start({.on_hello = std::move(launch.on_hello),
                            .is_served = IsOfThisRun,
                            .on_exec = std::move(launch.on_exec),
                            .on_unserved =
                                [&failure](const ControlPeer& peer, const std::string& why) {
                                  failure =
                                      fmt::format("PID {} could not be traced: {}", peer.pid, why);
                                },
                            .on_failure = [&failure](const std::string& why) { failure = why; }}));
  const std::string& name = launched->server_->name();
  launched->mark_ = fmt::format("{}={}", kControlVariable, name);
  LEAKGATE_TRY_ASSIGN(launch.process.environment,
                      ProgramEnvironment(launch.process.environment, {launch.agent, name}));
  LEAKGATE_TRY_ASSIGN(launched->process_, SuspendedProcess::Launch(launch.process));
  LEAKGATE_TRY(RequireTraceable(launch.process.program, *launched->process_, launch.refused));
  return launched;
}

Expected<void> LaunchedProgram::Resume(RunProcesses processes) {
  if (processes) command_server_ = RunServer::Start(std::move(processes));
  LEAKGATE_TRY(HandOver(*server_, *process_, agent_));
  return process_->Resume();
}

std::string LaunchedProgram::StopServing() {
  server_.reset();
  command_server_.reset();
  return failure_;
}

}  // namespace leakgate
