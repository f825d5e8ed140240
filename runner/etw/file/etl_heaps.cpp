#include "runner/etw/file/etl_heaps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

#include "runner/etw/heap_trace.h"

namespace leakgate {
namespace {

constexpr std::size_t kMostProcesses = 4096;

// Where modules are; the last one that was loaded at a place is there.
class ModuleMap {
 public:
  void Add(EtlModule module) {
    if (module.bytes == 0 || module.begin + module.bytes < module.begin) return;
    if (image_.empty() && module.name.size() > 4 && module.name.ends_with(".exe")) {
      image_ = module.name;
    }
    modules_.insert_or_assign(module.begin, std::move(module));
  }
  std::string NameOf(std::uint64_t frame) const {
    const auto after = modules_.upper_bound(frame);
    if (after != modules_.begin()) {
      const EtlModule& module = std::prev(after)->second;
      if (frame - module.begin < module.bytes) {
        return fmt::format("{}+{:#x}", module.name, frame - module.begin);
      }
    }
    return fmt::format("{:#x}", frame);
  }
  const std::string& image() const { return image_; }

 private:
  std::map<std::uint64_t, EtlModule> modules_;  // by begin
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

class HeapsReader {
 public:
  explicit HeapsReader(std::uint32_t pid) : pid_(pid) {}

  void Take(const EtlRecord& record) {
    if (record.group == EtlGroup::kModule) {
      if (std::optional<EtlModule> module = ReadEtlModule(record)) {
        modules_[module->process].Add(*std::move(module));
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
  static void Sum(const HeapTrace& trace, const ModuleMap* modules, EtlProcess& process) {
    std::map<std::optional<std::uint32_t>, EtlStackGroup> groups;
    for (const TracedBlock& block : trace.LiveBlocks()) {
      EtlStackGroup& group = groups[block.stack];
      group.bytes += block.size_bytes;
      ++group.blocks;
      process.bytes += block.size_bytes;
      ++process.blocks;
    }
    if (modules == nullptr) return;
    for (auto& [stack, group] : groups) {
      if (stack) {
        for (const std::uint64_t frame : trace.Frames(*stack)) {
          group.frames.push_back(modules->NameOf(frame));
        }
      }
      process.groups.push_back(std::move(group));
    }
    std::ranges::stable_sort(process.groups, std::ranges::greater(), &EtlStackGroup::bytes);
  }

  std::uint32_t pid_;
  std::map<std::uint32_t, ProcessHeaps> heaps_;
  std::map<std::uint32_t, ModuleMap> modules_;
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
