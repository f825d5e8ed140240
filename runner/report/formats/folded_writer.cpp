#include <algorithm>
#include <map>

#include "runner/report/formats/frame_table.h"
#include "runner/report/formats/make_writer.h"
#include "runner/report/formats/outstanding_stacks.h"
#include "runner/report/formats/writers.h"

namespace leakgate {
namespace {

// A semicolon parts frames, so none may have one.
std::string FoldedName(std::string name) {
  std::replace(name.begin(), name.end(), ';', ':');
  return name;
}

std::string FoldedFrame(const Frame& frame) { return ";" + FoldedName(ProfileFrameName(frame)); }

class FoldedWriter {
 public:
  FoldedWriter(std::ostream& out, const ReportSurroundings&) : out_(out) {}

  void Add(const RunResult& run) {
    VisitOutstanding(run, [&](const WindowResult& window, const Finding& finding) {
      if (finding.amount.bytes > 0) bytes_[Stack(window, finding)] += finding.amount.bytes;
    });
  }

  void Finish() {
    for (const auto& [stack, bytes] : bytes_) out_ << stack << ' ' << bytes << '\n';
  }

 private:
  std::string Stack(const WindowResult& window, const Finding& finding) {
    std::string line = FoldedName(RootName(window));
    for (auto frame = finding.stack.rbegin(); frame != finding.stack.rend(); ++frame) {
      line += frames_.Of(*frame, FoldedFrame);
    }
    return line;
  }

  std::ostream& out_;
  FrameTable<std::string> frames_;
  std::map<std::string, std::int64_t> bytes_;
};

}  // namespace

ReportWriter NewFoldedWriter(std::ostream& out, const ReportSurroundings& surroundings) {
  return MakeWriter<FoldedWriter>(out, surroundings);
}

}  // namespace leakgate
