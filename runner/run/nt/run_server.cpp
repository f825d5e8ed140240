#include "runner/run/run_server.h"

namespace leakgate {

// Only the profiler's commands ask a run, and there are none for Windows yet.
std::shared_ptr<RunServer> RunServer::Start(RunProcesses) { return nullptr; }

RunServer::~RunServer() = default;

}  // namespace leakgate
