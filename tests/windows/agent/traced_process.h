// A fixture that is launched suspended, traced and served, as the runner does it, up to its end.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runner/region/region_file.h"

namespace leakgate::testing {

// The live blocks of a window when it was to be judged, by size.
using BlocksBySize = std::map<std::uint64_t, int>;

struct Judged {
  std::string name;
  BlocksBySize blocks;
};

// Looks at a process whose thread `asking_tid` waits for the verdict on `window`.
using LookAtWindow =
    std::function<void(const RegionReader& region, std::uint32_t window, int asking_tid)>;

struct TraceRequest {
  std::string fixture;  // its file's name, in the folder of this program
  std::vector<std::string> arguments;
  std::uint32_t stack_events = kDefaultStackEvents;
  bool kills_at_first_question = false;
  std::string agent = "leakgate_agent64.dll";
  LookAtWindow looks_at = nullptr;
};

class TracedProcess {
 public:
  // Returns once the process has ended. Throws if it cannot be launched.
  explicit TracedProcess(const TraceRequest& request);

  const RegionReader& region() const { return region_->reader(); }
  unsigned long exit_code() const { return exit_code_; }
  const std::vector<Judged>& judged() const { return judged_; }

  // The live blocks of all windows, by size.
  [[nodiscard]] BlocksBySize LiveBlocks() const;
  [[nodiscard]] std::uint64_t Drops() const;

 private:
  void Answer(const LookAtWindow& looks_at);

  std::unique_ptr<RegionFile> region_;
  unsigned long exit_code_ = 0;
  std::vector<Judged> judged_;
};

// The folder of this program, where the fixtures and the agent are.
[[nodiscard]] std::filesystem::path ProgramFolder();

}  // namespace leakgate::testing
