#include "runner/region/region_file.h"

namespace leakgate {

void RegionFile::FillHeader(const RegionOwner& owner) {
  auto& header = *reinterpret_cast<RegionHeader*>(writable_.data());
  header.magic = kRegionMagic;
  header.layout_version = kLayoutVersion;
  header.region_bytes = region_offset::kEnd;
  header.pid = owner.pid;
  header.runner_pid = OwnPid();
  header.generation = owner.generation;
  header.asks_for_stream = owner.boundaries == BoundarySource::kStream ? 1 : 0;
  header.stack_depth = owner.stack_depth;
  header.stack_events = owner.stack_events;
  header.counts_temporary = owner.counts_temporary ? 1 : 0;
}

void RegionFile::StopAsking() {
  auto& header = *reinterpret_cast<RegionHeader*>(writable_.data());
  header.asks.store(0, std::memory_order_relaxed);
}

void RegionFile::Ask(std::uint32_t question) {
  auto& header = *reinterpret_cast<RegionHeader*>(writable_.data());
  header.asks.fetch_or(question, std::memory_order_relaxed);
}

void RegionFile::AskFromIteration(std::uint32_t iteration) {
  auto& header = *reinterpret_cast<RegionHeader*>(writable_.data());
  header.first_iteration_asked.store(iteration, std::memory_order_relaxed);
}

}  // namespace leakgate
