#include "runner/etw/file/etl_heaps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>
#include <utility>

#include "runner/etw/heap_trace.h"
#include "runner/etw/traced_modules.h"

namespace leakgate {
namespace {

constexpr std::size_t kMostProcesses = 4096;

// The modules of a process, and the name of its program.
class ProcessModules {
 public:
  void Add(EtlModule module, std::uint64_t time) {
    const std::uint64_t begin = module.begin;
    if (module.bytes == 0 || begin + module.bytes < begin) return;
    if (image_.empty() && module.name.size() > 4 && module.name.ends_with(".exe")) {
      image_ = module.name;
    }
    Module file;
    file.begin = begin;
    file.end = begin + module.bytes;
    file.path = std::move(module.name);
    if (module.change == EtlModuleChange::kLoaded) return modules_.Load(std::move(file), time);
    modules_.Meet(std::move(file), time);
    if (module.change == EtlModuleChange::kUnloaded) modules_.Unload(begin, time);
  }
  std::string NameOf(std::uint64_t frame, std::uint64_t time) const {
    const std::optional<std::size_t> number = modules_.Find(frame, time);
    if (!number) return fmt::format("{:#x}", frame);
    const Module& module = modules_[*number];
    return fmt::format("{}+{:#x}", module.path, frame - module.begin);
  }
  // While this is the same, all frames are in the same modules.
  std::size_t CountChanges(std::uint64_t time) const { return modules_.CountChanges(time); }
  const std::string& image() const { return image_; }

 private:
  TracedModules modules_;
  std::string image_;
};

// Which events of heaps may still get a stack. A file has stacks of other events, too.
class StackedTimes {
 public:
  void Add(std::uint32_t thread, std::uint64_t time) {
    Recent& recent = threads_[thread];
    recent.times[recent.next++ % recent.times.size()] = time;
  }
  bool Has(std::uint32_t thread, std::uint64_t time) const {
    const auto found = threads_.find(thread);
    return found != threads_.end() &&
           std::ranges::find(found->second.times, time) != found->second.times.end();
  }

 private:
  struct Recent {
    std::array<std::uint64_t, 8> times{};
    std::size_t next = 0;
  };
  std::unordered_map<std::uint32_t, Recent> threads_;
};

struct ProcessHeaps {
  explicit ProcessHeaps(std::uint32_t pid) : trace(pid) {}

  HeapTrace trace;
  StackedTimes stacked;
  bool is_mixed = false;
};

// Blocks of one call stack, while no module came or went.
struct StackAt {
  std::uint64_t time = 0;  // of any of them
  EtlStackGroup sum;
};

class HeapsReader {
 public:
  explicit HeapsReader(std::uint32_t pid) : pid_(pid) {}

  void Take(const EtlRecord& record) {
    if (record.group == EtlGroup::kModule) {
      if (std::optional<EtlModule> module = ReadEtlModule(record)) {
        const std::uint32_t process = module->process;
        modules_[process].Add(*std::move(module), record.event.time);
      }
    } else if (record.group == EtlGroup::kProcessStart) {
      const std::optional<std::uint32_t> pid = ReadEtlProcessStart(record);
      const auto found = pid ? heaps_.find(*pid) : heaps_.end();
      if (found != heaps_.end()) found->second.is_mixed = true;
    } else if (record.group == EtlGroup::kStack) {
      TakeStack(record.event);
    } else if (record.group == EtlGroup::kHeap) {
      TakeHeapEvent(record.event);
    }
  }
  bool has_too_many() const { return has_too_many_; }

  std::vector<EtlProcess> Finish() {
    std::vector<EtlProcess> processes;
    for (auto& [pid, heaps] : heaps_) {
      EtlProcess process = {.pid = pid, .image = modules_[pid].image()};
      heaps.trace.Finish();
      process.heap_events = heaps.trace.heap_events();
      process.losses = heaps.trace.losses();
      process.is_mixed = heaps.is_mixed;
      const bool is_asked = pid_ == pid || (pid_ == 0 && heaps_.size() == 1);
      Sum(heaps.trace, is_asked ? &modules_[pid] : nullptr, process);
      processes.push_back(std::move(process));
    }
    std::ranges::sort(processes, std::ranges::greater(), &EtlProcess::heap_events);
    return processes;
  }

 private:
  void TakeStack(const TraceEvent& event) {
    const std::optional<EtlStackOwner> owner = ReadEtlStackOwner(event);
    const auto found = owner ? heaps_.find(owner->process) : heaps_.end();
    if (found == heaps_.end()) return;
    if (event.opcode != kStackOpcode || found->second.stacked.Has(owner->thread, owner->time)) {
      found->second.trace.Add(event);
    }
  }
  void TakeHeapEvent(const TraceEvent& event) {
    auto found = heaps_.find(event.process);
    if (found == heaps_.end()) {
      has_too_many_ |= heaps_.size() == kMostProcesses;
      if (has_too_many_) return;
      found = heaps_.emplace(event.process, event.process).first;
    }
    found->second.stacked.Add(event.thread, event.time);
    found->second.trace.Add(event);
  }

  // Without `modules`, the sums alone.
  static void Sum(const HeapTrace& trace, const ProcessModules* modules, EtlProcess& process) {
    std::map<std::pair<std::optional<std::uint32_t>, std::size_t>, StackAt> stacks;
    for (const TracedBlock& block : trace.LiveBlocks()) {
      const std::size_t changes = modules == nullptr ? 0 : modules->CountChanges(block.time);
      StackAt& stack = stacks[{block.stack, changes}];
      stack.time = block.time;
      stack.sum.bytes += block.size_bytes;
      ++stack.sum.blocks;
    }
    // By frames: modules that came and went elsewhere change none of them.
    std::map<std::vector<std::string>, EtlStackGroup> groups;
    for (const auto& [key, stack] : stacks) {
      process.bytes += stack.sum.bytes;
      process.blocks += stack.sum.blocks;
      if (modules == nullptr) continue;
      std::vector<std::string> frames;
      if (key.first) {
        for (const std::uint64_t frame : trace.Frames(*key.first)) {
          frames.push_back(modules->NameOf(frame, stack.time));
        }
      }
      EtlStackGroup& group = groups[std::move(frames)];
      group.bytes += stack.sum.bytes;
      group.blocks += stack.sum.blocks;
    }
    while (!groups.empty()) {
      auto group = groups.extract(groups.begin());
      group.mapped().frames = std::move(group.key());
      process.groups.push_back(std::move(group.mapped()));
    }
    std::ranges::stable_sort(process.groups, std::ranges::greater(), &EtlStackGroup::bytes);
  }

  std::uint32_t pid_;
  std::map<std::uint32_t, ProcessHeaps> heaps_;
  std::map<std::uint32_t, ProcessModules> modules_;
  bool has_too_many_ = false;
};

}  // namespace

Expected<EtlHeaps> ReadEtlHeaps(const ReadEtlBytes& read, std::uint32_t pid) {
  HeapsReader reader(pid);
  LEAKGATE_TRY_ASSIGN(const EtlGaps gaps,
                      ReadEtl(read, [&](const EtlRecord& record) { reader.Take(record); }));
  if (reader.has_too_many()) {
    return UsageError("it has heaps of more than 4096 processes; record fewer");
  }
  return EtlHeaps{reader.Finish(), gaps};
}

TraceLosses DoubtfulLosses(const EtlProcess& process) {
  TraceLosses losses = process.losses;
  losses.unknown_blocks = 0;
  losses.blocks_without_stack = 0;
  return losses;
}

bool IsWhole(const EtlProcess& process, const EtlGaps& gaps) {
  return DoubtfulLosses(process) == TraceLosses() && gaps == EtlGaps() && !process.is_mixed;
}

}  // namespace leakgate
