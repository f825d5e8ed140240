// Measures what tracing costs on Windows: each workload beside itself untraced, in turn, so that a
// machine that is busy for a while is busy for both. Prints the best times of both and their ratio,
// and the memory that a traced process commits.
//
// windows_cost [ROUNDS [BUDGET_MS [AGENT...]]]: agents by their paths from this program's folder,
// to compare several
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "runner/base/nt/win32.h"
#include "tests/windows/agent/traced_process.h"

namespace leakgate::testing {
namespace {

struct Workload {
  std::string fixture;
  std::vector<std::string> arguments;  // the time in which it measures follows them
  double bar = 0;                      // the highest ratio; 0 if there is none
};

const std::vector<Workload> kWorkloads = {
    {"cost_pairs.exe", {"10", "1"}, 1.2}, {"cost_pairs.exe", {"40", "1"}, 1.3},
    {"cost_pairs.exe", {"10", "2"}, 0},   {"cost_strings_and_maps.exe", {}, 1.25},
    {"cost_tree.exe", {"14"}, 0},
};

// What programs write to standard output while this is there. It must fit into a pipe.
class CapturedOutput {
 public:
  CapturedOutput() : before_(::GetStdHandle(STD_OUTPUT_HANDLE)) {
    SECURITY_ATTRIBUTES inherited{sizeof(inherited), nullptr, TRUE};
    if (::CreatePipe(&read_, &write_, &inherited, 1 << 16) == 0)
      throw std::runtime_error("no pipe");
    ::SetStdHandle(STD_OUTPUT_HANDLE, write_);
  }
  ~CapturedOutput() { Restore(); }
  CapturedOutput(const CapturedOutput&) = delete;
  CapturedOutput& operator=(const CapturedOutput&) = delete;

  // REQUIRES: the programs have ended.
  std::string Take() {
    Restore();
    std::string text;
    char part[4096];
    DWORD bytes = 0;
    while (::ReadFile(read_, part, sizeof(part), &bytes, nullptr) != 0 && bytes != 0) {
      text.append(part, bytes);
    }
    return text;
  }

 private:
  void Restore() {
    if (write_ == nullptr) return;
    ::SetStdHandle(STD_OUTPUT_HANDLE, before_);
    ::CloseHandle(write_);
    write_ = nullptr;
  }

  HANDLE before_;
  HANDLE read_ = nullptr;
  HANDLE write_ = nullptr;
};

void RunUntraced(const TraceRequest& request) {
  std::wstring line = L"\"" + (ProgramFolder() / request.fixture).wstring() + L"\"";
  for (const std::string& argument : request.arguments) line += L" " + WideOf(argument);
  STARTUPINFOW start{};
  start.cb = sizeof(start);
  PROCESS_INFORMATION made{};
  if (::CreateProcessW(nullptr, line.data(), nullptr, nullptr, TRUE, 0, nullptr, nullptr, &start,
                       &made) == 0) {
    throw std::runtime_error(request.fixture + ": " + WindowsErrorText());
  }
  ::WaitForSingleObject(made.hProcess, INFINITE);
  ::CloseHandle(made.hThread);
  ::CloseHandle(made.hProcess);
}

double FigureIn(const std::string& output, std::string_view name) {
  const std::size_t at = output.find(name);
  if (at == std::string::npos) throw std::runtime_error("no figure in: " + output);
  return std::strtod(output.c_str() + at + name.size(), nullptr);
}

double NanosecondsOf(const TraceRequest& request, bool traces) {
  CapturedOutput output;
  if (!traces) {
    RunUntraced(request);
  } else if (const TracedProcess traced(request); traced.Drops() != 0) {
    throw std::runtime_error(request.fixture + " had drops");
  }
  return FigureIn(output.Take(), "bench.ns_per_op ");
}

void Measure(const Workload& workload, int rounds, const std::string& budget_ms,
             const std::vector<std::string>& agents) {
  TraceRequest request{.fixture = workload.fixture, .arguments = workload.arguments};
  request.arguments.push_back(budget_ms);
  double untraced = 1e9;
  std::vector<double> traced(agents.size(), 1e9);
  for (int round = 0; round < rounds; ++round) {
    untraced = std::min(untraced, NanosecondsOf(request, false));
    for (std::size_t i = 0; i < agents.size(); ++i) {
      request.agent = agents[i];
      traced[i] = std::min(traced[i], NanosecondsOf(request, true));
    }
  }
  std::string name = workload.fixture;
  for (const std::string& argument : workload.arguments) name += " " + argument;
  std::printf("%-28s untraced %8.1f ns, traced", name.c_str(), untraced);
  for (const double time : traced) std::printf(" %8.1f ns (%.2f)", time, time / untraced);
  if (workload.bar != 0) std::printf(", bar %.2f", workload.bar);
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace
}  // namespace leakgate::testing

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 5;
  const std::string budget_ms = argc > 2 ? argv[2] : "300";
  std::vector<std::string> agents(argv + std::min(argc, 3), argv + argc);
  if (agents.empty()) agents.emplace_back("leakgate_agent64.dll");
  for (const auto& workload : leakgate::testing::kWorkloads) {
    leakgate::testing::Measure(workload, rounds, budget_ms, agents);
  }
}
