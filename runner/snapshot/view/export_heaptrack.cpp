// Writes a snapshot as a recording of heaptrack's, file format 3, for heaptrack_print and
// heaptrack_gui. It looks as if the process had allocated the live blocks one after the other, and
// nothing else.
//
//   s LENGTH TEXT                        a string; numbers are hexadecimal, ids from 1
//   i ADDRESS MODULE [FUNCTION FILE LINE]...   an address; inlined functions inner first
//   t ADDRESS CALLER                     a frame of the tree of stacks
//   a BYTES STACK                        a size at a stack; these ids are from 0
//   + SIZE-AT-STACK                      a block
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <map>
#include <unordered_map>

#include "runner/report/style.h"
#include "runner/snapshot/view/export_snapshot.h"

namespace leakgate {
namespace {

// heaptrack 1.4 was the first to write this version of the format.
constexpr unsigned kHeaptrackVersion = 0x10400;
constexpr unsigned kFileVersion = 3;
constexpr unsigned kPageBytes = 4096;

class HeaptrackWriter {
 public:
  HeaptrackWriter(SnapshotView& view, std::ostream& out) : view_(view), out_(out) {}

  Expected<void> Write() {
    const SnapshotFacts& facts = view_.contents().facts;
    out_ << fmt::format("v {:x} {:x}\n", kHeaptrackVersion, kFileVersion);
    out_ << fmt::format("X {}\n", Printable(fmt::format("{}", fmt::join(facts.command_line, " "))));
    out_ << fmt::format("I {:x} 0\n", kPageBytes);
    const Expected<void> read = view_.ReadBlocks([this](std::span<const LiveBlock> blocks) {
      for (const LiveBlock& block : blocks) {
        if (view_.Matches(block.stack)) Add(block);
      }
      return Expected<void>();
    });
    if (!read) return read;
    out_ << fmt::format("c {:x}\n", MillisecondsTraced());
    return {};
  }

 private:
  void Add(const LiveBlock& block) {
    const std::uint32_t trace = TraceOf(block.stack);
    const auto [known, is_new] = sizes_.try_emplace({block.size_bytes, trace}, sizes_.size());
    if (is_new) out_ << fmt::format("a {:x} {:x}\n", block.size_bytes, trace);
    out_ << fmt::format("+ {:x}\n", known->second);
  }

  std::uint32_t TraceOf(std::uint32_t node) {
    if (node == static_cast<std::uint32_t>(UnwindEnd::kNotTaken)) return TraceOfNoStack();
    std::vector<std::uint32_t> path;
    std::uint32_t trace = 0;
    for (; node >= kStackRootCount; node = view_.contents().nodes[node].parent) {
      const auto known = traces_.find(node);
      if (known != traces_.end()) {
        trace = known->second;
        break;
      }
      path.push_back(node);
    }
    for (auto at = path.rbegin(); at != path.rend(); ++at) {
      // The agent's own frames are left out.
      if (const std::uint32_t address = AddressOf(*at); address != 0) {
        out_ << fmt::format("t {:x} {:x}\n", address, trace);
        trace = ++trace_count_;
      }
      traces_[*at] = trace;
    }
    return trace;
  }

  // Writes a frame that says so, without an address or a module.
  std::uint32_t TraceOfNoStack() {
    std::uint32_t& trace = traces_[static_cast<std::uint32_t>(UnwindEnd::kNotTaken)];
    if (trace != 0) return trace;
    out_ << fmt::format("i 0 0 {:x} 0 0\n", TextOf("[stack not taken]"));
    out_ << fmt::format("t {:x} 0\n", ++address_count_);
    return trace = ++trace_count_;
  }

  std::uint32_t AddressOf(std::uint32_t node) {
    const SnapshotNode& it = view_.contents().nodes[node];
    const auto [known, is_new] = addresses_.try_emplace({it.module, it.pc}, 0);
    if (!is_new) return known->second;
    const std::vector<FrameId>& frames = view_.frames().FramesAt(node);
    if (frames.empty()) return 0;
    const std::string module = view_.frames().Get(frames.front()).module;
    std::string line = fmt::format("i {:x} {:x}", it.pc, TextOf(module));
    for (const FrameId id : frames) {
      const Frame& frame = view_.frames().Get(id);
      if (frame.function.empty()) break;
      // The strings that a line refers to come before it.
      const std::uint32_t function = TextOf(frame.function);
      const std::uint32_t file = TextOf(frame.file);
      line += fmt::format(" {:x} {:x} {:x}", function, file, frame.line);
    }
    out_ << line << '\n';
    return known->second = ++address_count_;
  }

  std::uint32_t TextOf(const std::string& text) {
    if (text.empty()) return 0;
    const auto [known, is_new] = texts_.try_emplace(text, texts_.size() + 1);
    const std::string printable = Printable(text);
    if (is_new) out_ << fmt::format("s {:x} {}\n", printable.size(), printable);
    return static_cast<std::uint32_t>(known->second);
  }

  std::uint64_t MillisecondsTraced() const {
    const SnapshotFacts& facts = view_.contents().facts;
    const bool is_known = facts.tracing_begin_ns != 0 && facts.taken_ns > facts.tracing_begin_ns;
    return is_known ? (facts.taken_ns - facts.tracing_begin_ns) / 1'000'000 : 0;
  }

  SnapshotView& view_;
  std::ostream& out_;
  std::unordered_map<std::string, std::size_t> texts_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> addresses_;
  std::uint32_t address_count_ = 0;
  std::unordered_map<std::uint32_t, std::uint32_t> traces_;  // by node
  std::uint32_t trace_count_ = 0;
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::size_t> sizes_;
};

}  // namespace

Expected<void> WriteHeaptrack(SnapshotView& view, std::ostream& out) {
  return HeaptrackWriter(view, out).Write();
}

}  // namespace leakgate
