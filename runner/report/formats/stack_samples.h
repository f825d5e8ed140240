// The input of the profile writers (folded, pprof, speedscope): call stacks, each with the
// memory that was allocated there. A finished run and a snapshot both give such samples. Pure.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "runner/region/amount.h"
#include "runner/report/report_format.h"
#include "runner/symbols/frame.h"

namespace leakgate {

struct StackSample {
  std::string root;               // what stands outside of all frames: the test, or the program
  std::span<const Frame> frames;  // innermost first; valid during the call that takes the sample
  Amount amount;
  std::string component;         // empty: none
  std::string_view disposition;  // of a run's findings; empty: not told
};

// Writes one profile. Samples with the same stack are added up.
struct ProfileWriter {
  std::function<void(const StackSample& sample)> add;
  std::function<void()> finish;  // called once, after the last sample
};

// Folded stacks, "test;outermost;...;innermost bytes", for flamegraph.pl, inferno and speedscope.
[[nodiscard]] ProfileWriter NewFoldedProfile(std::ostream& out);

// A gzipped profile.proto, for pprof: inuse_objects and inuse_space, labelled by test, component
// and disposition. `memory` is what stands for "inuse".
[[nodiscard]] ProfileWriter NewPprofProfile(std::ostream& out,
                                            const ReportSurroundings& surroundings,
                                            std::string_view memory = "inuse");

// speedscope's own file format: one profile of bytes and one of blocks. `memory` says in their
// titles what the memory is: "outstanding" or "live".
[[nodiscard]] ProfileWriter NewSpeedscopeProfile(std::ostream& out,
                                                 const ReportSurroundings& surroundings,
                                                 std::string_view memory);

// Makes a report writer that gives `profile` the outstanding blocks of each run, without the
// framework's own.
[[nodiscard]] ReportWriter ProfileOfRuns(ProfileWriter profile);

// Makes a ProfileWriter from a class with Add(StackSample) and Finish().
template <typename Writer, typename... Arguments>
ProfileWriter MakeProfileWriter(std::ostream& out, const Arguments&... arguments) {
  const auto writer = std::make_shared<Writer>(out, arguments...);
  return {.add = [writer](const StackSample& sample) { writer->Add(sample); },
          .finish = [writer] { writer->Finish(); }};
}

// Returns FrameName, printable.
[[nodiscard]] std::string ProfileFrameName(const Frame& frame);

struct FrameHash {
  std::size_t operator()(const Frame& frame) const {
    std::size_t hash = static_cast<std::size_t>(frame.line) * 2 + (frame.inlined ? 1 : 0);
    for (const std::string* const text : {&frame.function, &frame.file, &frame.module}) {
      hash = hash * 31 + std::hash<std::string>()(*text);
    }
    return hash * 31 + std::hash<std::uint64_t>()(frame.module_offset);
  }
};

// Keeps what a writer makes of each frame: stacks share most of their frames.
template <typename Value>
class FrameTable {
 public:
  // Returns what `make` gives for `frame`. It is called once for each frame.
  template <typename Make>
  const Value& Of(const Frame& frame, const Make& make) {
    const auto known = values_.find(frame);
    if (known != values_.end()) return known->second;
    return values_.emplace(frame, make(frame)).first->second;
  }

 private:
  std::unordered_map<Frame, Value, FrameHash> values_;
};

}  // namespace leakgate
