#include "runner/report/formats/stack_samples.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "runner/report/finding_text.h"
#include "runner/report/formats/call_site.h"
#include "runner/report/json/json_text.h"
#include "runner/report/style.h"
#include "runner/report/window_text.h"
#include "runner/result/words.h"

namespace leakgate {

namespace {

void AddOutstanding(const RunResult& run, const ProfileWriter& profile) {
  for (const WindowResult& window : run.windows) {
    const std::string root = PlainWindowName(window);
    const auto add = [&](const Finding& finding) {
      if (finding.disposition == Disposition::kFramework) return;
      profile.add(
          {.root = root,
           .frames = finding.stack,
           .amount = OwnAmount(finding),
           .component = finding.component.empty() ? window.budget->component : finding.component,
           .disposition = Word(finding.disposition)});
    };
    ForEachWithLedTo(window.findings, add);
  }
}

}  // namespace

ReportWriter ProfileOfRuns(ProfileWriter profile) {
  return {.add_baseline = {},
          .add = [profile](const RunResult& run) { AddOutstanding(run, profile); },
          .finish = profile.finish};
}

std::string ProfileFrameName(const Frame& frame) { return Printable(FrameName(frame)); }

namespace {

// A semicolon separates frames, so no name may have one.
std::string FoldedName(std::string name) {
  std::replace(name.begin(), name.end(), ';', ':');
  return name;
}

std::string FoldedFrame(const Frame& frame) { return ";" + FoldedName(ProfileFrameName(frame)); }

class FoldedWriter {
 public:
  explicit FoldedWriter(std::ostream& out) : out_(out) {}

  void Add(const StackSample& sample) {
    if (sample.amount.bytes > 0) bytes_[Stack(sample)] += sample.amount.bytes;
  }

  void Finish() {
    for (const auto& [stack, bytes] : bytes_) out_ << stack << ' ' << bytes << '\n';
  }

 private:
  std::string Stack(const StackSample& sample) {
    std::string line = FoldedName(Printable(sample.root));
    for (auto frame = sample.frames.rbegin(); frame != sample.frames.rend(); ++frame) {
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
  SpeedscopeWriter(std::ostream& out, const ReportSurroundings& surroundings,
                   std::string_view memory)
      : out_(out),
        version_(surroundings.version),
        root_(surroundings.source_root),
        memory_(memory) {}

  void Add(const StackSample& sample) { amounts_[IndicesOf(sample)] += sample.amount; }

  void Finish() {
    Json report = {{"$schema", "https://www.speedscope.app/file-format-schema.json"},
                   {"exporter", "leakgate " + version_},
                   {"name", memory_ + " memory"},
                   {"activeProfileIndex", 0},
                   {"shared", {{"frames", frames_}}}};
    report["profiles"] = Json::array(
        {Profile("bytes " + memory_, "bytes", [](Amount amount) { return amount.bytes; }),
         Profile("blocks " + memory_, "none", [](Amount amount) { return amount.blocks; })});
    out_ << CompactJson(report) << '\n';
  }

 private:
  using Indices = std::vector<std::size_t>;

  // speedscope wants the outermost frame first.
  Indices IndicesOf(const StackSample& sample) {
    Indices indices = {IndexOf(Printable(sample.root), {})};
    const auto index_of = [this](const Frame& frame) { return IndexOf(frame); };
    for (auto frame = sample.frames.rbegin(); frame != sample.frames.rend(); ++frame) {
      indices.push_back(index_of_frame_.Of(*frame, index_of));
    }
    return indices;
  }

  std::size_t IndexOf(const Frame& frame) {
    FilePosition position;
    if (!frame.file.empty()) position = {RelativePath(frame.file, root_), frame.line};
    return IndexOf(ProfileFrameName(frame), position);
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
  std::string version_;
  std::string root_;
  std::string memory_;
  Json frames_ = Json::array();
  std::map<std::tuple<std::string, std::string, int>, std::size_t> indices_;
  FrameTable<std::size_t> index_of_frame_;
  std::map<Indices, Amount> amounts_;
};

}  // namespace

ProfileWriter NewFoldedProfile(std::ostream& out) { return MakeProfileWriter<FoldedWriter>(out); }

ProfileWriter NewSpeedscopeProfile(std::ostream& out, const ReportSurroundings& surroundings,
                                   std::string_view memory) {
  return MakeProfileWriter<SpeedscopeWriter>(out, surroundings, memory);
}

}  // namespace leakgate
