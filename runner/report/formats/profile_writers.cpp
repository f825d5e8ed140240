#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "runner/report/formats/call_site.h"
#include "runner/report/formats/make_writer.h"
#include "runner/report/formats/outstanding_stacks.h"
#include "runner/report/formats/writers.h"
#include "runner/report/style.h"

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

using Json = nlohmann::ordered_json;

class SpeedscopeWriter {
 public:
  SpeedscopeWriter(std::ostream& out, const ReportSurroundings& surroundings)
      : out_(out), surroundings_(surroundings) {}

  void Add(const RunResult& run) {
    VisitOutstanding(run, [&](const WindowResult& window, const Finding& finding) {
      amounts_[Sample(window, finding)] += finding.amount;
    });
  }

  void Finish() {
    const bool is_live = surroundings_.profiled == ProfiledMemory::kLive;
    const std::string what = is_live ? "live" : "outstanding";
    Json report = {{"$schema", "https://www.speedscope.app/file-format-schema.json"},
                   {"exporter", "leakgate " + surroundings_.version},
                   {"name", what + " memory"},
                   {"activeProfileIndex", 0},
                   {"shared", {{"frames", frames_}}}};
    report["profiles"] = Json::array(
        {Profile("bytes " + what, "bytes", [](Amount amount) { return amount.bytes; }),
         Profile("blocks " + what, "none", [](Amount amount) { return amount.blocks; })});
    out_ << report.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
  }

 private:
  using Indices = std::vector<std::size_t>;

  // The outermost frame first, as speedscope has it.
  Indices Sample(const WindowResult& window, const Finding& finding) {
    Indices sample = {IndexOf(RootName(window), {})};
    const auto index_of = [this](const Frame& frame) { return IndexOf(frame); };
    for (auto frame = finding.stack.rbegin(); frame != finding.stack.rend(); ++frame) {
      sample.push_back(index_of_frame_.Of(*frame, index_of));
    }
    return sample;
  }

  std::size_t IndexOf(const Frame& frame) {
    Finding alone;
    alone.stack = {frame};
    return IndexOf(ProfileFrameName(frame), PositionOf(alone, surroundings_.source_root));
  }

  std::size_t IndexOf(const std::string& name, const FilePosition& position) {
    const auto key = std::make_tuple(name, position.file, position.line);
    const auto [known, is_new] = indices_.emplace(key, indices_.size());
    if (is_new) {
      Json frame = {{"name", name}};
      if (!position.file.empty()) frame["file"] = Printable(position.file);
      if (position.line > 0) frame["line"] = position.line;
      frames_.push_back(std::move(frame));
    }
    return known->second;
  }

  Json Profile(const std::string& name, const char* unit, std::int64_t (*weigh)(Amount)) const {
    Json samples = Json::array();
    Json weights = Json::array();
    std::int64_t total = 0;
    for (const auto& [sample, amount] : amounts_) {
      samples.push_back(sample);
      weights.push_back(weigh(amount));
      total += weigh(amount);
    }
    return {{"type", "sampled"}, {"name", name},       {"unit", unit},      {"startValue", 0},
            {"endValue", total}, {"samples", samples}, {"weights", weights}};
  }

  std::ostream& out_;
  ReportSurroundings surroundings_;
  Json frames_ = Json::array();
  std::map<std::tuple<std::string, std::string, int>, std::size_t> indices_;
  FrameTable<std::size_t> index_of_frame_;
  std::map<Indices, Amount> amounts_;
};

}  // namespace

ReportWriter NewFoldedWriter(std::ostream& out, const ReportSurroundings& surroundings) {
  return MakeWriter<FoldedWriter>(out, surroundings);
}

ReportWriter NewSpeedscopeWriter(std::ostream& out, const ReportSurroundings& surroundings) {
  return MakeWriter<SpeedscopeWriter>(out, surroundings);
}

}  // namespace leakgate
