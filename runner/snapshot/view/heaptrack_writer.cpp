#include "runner/snapshot/view/heaptrack_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "runner/base/page_size.h"
#include "runner/report/style.h"

namespace leakgate {
namespace {

// heaptrack 1.4 was the first to write this version of the format.
constexpr unsigned kHeaptrackVersion = 0x10400;
constexpr unsigned kFileVersion = 3;

}  // namespace

void HeaptrackWriter::Begin() {
  out_ << fmt::format("v {:x} {:x}\n", kHeaptrackVersion, kFileVersion);
  out_ << fmt::format("X {}\n",
                      Printable(fmt::format("{}", fmt::join(contents_.facts.command_line, " "))));
  out_ << fmt::format("I {:x} 0\n", PageBytes());
}

void HeaptrackWriter::Allocate(std::uint64_t size_bytes, std::uint32_t stack) {
  const std::uint64_t size_at_stack = SizeAtStack(size_bytes, stack);
  out_ << fmt::format("+ {:x}\n", size_at_stack);
}

void HeaptrackWriter::Free(std::uint64_t size_bytes, std::uint32_t stack) {
  const std::uint64_t size_at_stack = SizeAtStack(size_bytes, stack);
  out_ << fmt::format("- {:x}\n", size_at_stack);
}

void HeaptrackWriter::Time(std::uint64_t ms) { out_ << fmt::format("c {:x}\n", ms); }

std::uint64_t HeaptrackWriter::SizeAtStack(std::uint64_t size_bytes, std::uint32_t stack) {
  const std::uint32_t trace = TraceOf(stack);
  const auto [known, is_new] = sizes_.try_emplace({size_bytes, trace}, sizes_.size());
  if (is_new) out_ << fmt::format("a {:x} {:x}\n", size_bytes, trace);
  return known->second;
}

std::uint32_t HeaptrackWriter::TraceOf(std::uint32_t node) {
  if (node == static_cast<std::uint32_t>(UnwindEnd::kNotTaken)) return TraceOfNoStack();
  std::vector<std::uint32_t> path;
  std::uint32_t trace = 0;
  for (; node >= kStackRootCount; node = contents_.nodes[node].parent) {
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

// Writes a frame which says that the stack was not taken, without an address or a module.
std::uint32_t HeaptrackWriter::TraceOfNoStack() {
  std::uint32_t& trace = traces_[static_cast<std::uint32_t>(UnwindEnd::kNotTaken)];
  if (trace != 0) return trace;
  out_ << fmt::format("i 0 0 {:x} 0 0\n", TextOf("[stack not taken]"));
  out_ << fmt::format("t {:x} 0\n", ++address_count_);
  return trace = ++trace_count_;
}

std::uint32_t HeaptrackWriter::AddressOf(std::uint32_t node) {
  const SnapshotNode& it = contents_.nodes[node];
  const auto [known, is_new] = addresses_.try_emplace({it.module, it.pc}, 0);
  if (!is_new) return known->second;
  const std::vector<FrameId>& frames = frames_.FramesAt(node);
  if (frames.empty()) return 0;
  const std::string module = frames_.Get(frames.front()).module;
  std::string line = fmt::format("i {:x} {:x}", it.pc, TextOf(module));
  for (const FrameId id : frames) {
    const Frame& frame = frames_.Get(id);
    if (frame.function.empty()) break;
    // The strings that a line refers to come before it.
    const std::uint32_t function = TextOf(frame.function);
    const std::uint32_t file = TextOf(frame.file);
    line += fmt::format(" {:x} {:x} {:x}", function, file, frame.line);
  }
  out_ << line << '\n';
  return known->second = ++address_count_;
}

std::uint32_t HeaptrackWriter::TextOf(const std::string& text) {
  if (text.empty()) return 0;
  const auto [known, is_new] = texts_.try_emplace(text, texts_.size() + 1);
  const std::string printable = Printable(text);
  if (is_new) out_ << fmt::format("s {:x} {}\n", printable.size(), printable);
  return static_cast<std::uint32_t>(known->second);
}

}  // namespace leakgate
