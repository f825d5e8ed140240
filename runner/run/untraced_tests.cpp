#include "runner/run/untraced_tests.h"

#include <fmt/format.h>

#include <filesystem>

#include "runner/base/path_text.h"
#include "runner/process/image_inspection.h"
#include "runner/process/process_image.h"
#include "runner/process/process_tree.h"
#include "runner/result/gtest_flags.h"

namespace leakgate {
namespace {

// Another leakgate gates what it starts. Its own file looks like a test binary.
bool IsLeakgate(const std::string& path) { return PathOf(path).stem() == "leakgate"; }

}  // namespace

bool UntracedTests::Watch(int program) {
  pid_ = program;
  program_ = ImageOf(program);
  is_watching_ = !Inspect(program_).is_test_binary;
  return is_watching_;
}

const UntracedTests::ProgramFile& UntracedTests::Inspect(const std::string& path) {
  static const ProgramFile kUnreadable;  // not kept, because there may be any number of them
  const auto known = known_.find(path);
  if (known != known_.end()) return known->second;
  const Expected<ImageInspection> inspection = InspectImage(path);
  if (!inspection) return kUnreadable;
  const ProgramFile found = {.is_test_binary = inspection->linked.TellsTests() && !IsLeakgate(path),
                             .is_refused = inspection->refusal.has_value()};
  return known_.emplace(path, found).first->second;
}

void UntracedTests::OnHello(const ControlPeer& peer) {
  if (!is_watching_ || AsksForNoTest(ArgumentsOf(peer))) return;
  NoteStarted(ProgramOf(peer));
}

void UntracedTests::NoteStarted(const std::string& path) {
  if (is_watching_ && Inspect(path).is_test_binary) untraced_.emplace(path, program_);
}

void UntracedTests::OnExec(const ReportedExec& told) {
  if (!is_watching_ || told.pid == pid_) return;
  without_agent_.erase(told.pid);
  if (!told.starts) return;
  // By now the sender may already execute the other program, so its parent is checked, too.
  if (IsLeakgate(ImageOf(told.sender)) || IsLeakgate(ImageOf(ParentOf(told.sender)))) return;
  const ProgramFile& image = Inspect(told.path);
  const bool has_agent = !image.is_refused && !told.leaves_agent;
  if (image.is_test_binary && !has_agent) without_agent_[told.pid] = told.path;
}

std::vector<std::string> UntracedTests::Doubts() const {
  std::map<std::string, std::string> all = untraced_;
  for (const auto& [pid, path] : without_agent_) all.emplace(path, program_);
  std::vector<std::string> lines;
  for (const auto& [path, program] : all) {
    lines.push_back(
        fmt::format("the tests of {} were not gated: {} started it as another process; run "
                    "leakgate on the test binary itself (leakgate run -- {})",
                    path, FileNameIn(program), path));
  }
  if (has_unknown_) {
    lines.push_back(
        fmt::format("a process that {} started had ended before it could be read, and may have run "
                    "tests; run leakgate on the test binary itself",
                    FileNameIn(program_)));
  }
  return lines;
}

}  // namespace leakgate
