#include "runner/recording/file/recording_records.h"

#include <cmath>

#include "runner/snapshot/file/parts.h"

namespace leakgate::recording_format {

using snapshot_format::ByteReader;
using snapshot_format::ByteWriter;

namespace {

// The length of a unit of time is written in 2^-32 ns.
constexpr double kFractions = 4294967296.0;

constexpr std::uint64_t kMostMissing = 1000;

}  // namespace

void Encode(const RecordingFacts& facts, ByteWriter& out) {
  out.Number(facts.buffer_bytes);
  out.Number(facts.buffer_count);
  out.Number(static_cast<std::uint64_t>(facts.when_full));
  out.Number(static_cast<std::uint64_t>(facts.clock));
  out.Number(static_cast<std::uint64_t>(std::llround(facts.unit_ns * kFractions)));
  out.Text(facts.test);
}

bool Decode(ByteReader in, RecordingFacts& facts) {
  facts.buffer_bytes = in.Number32();
  facts.buffer_count = in.Number32();
  const std::uint32_t when_full = in.Number32();
  const std::uint32_t clock = in.Number32();
  facts.unit_ns = static_cast<double>(in.Number()) / kFractions;
  facts.test = in.Text();
  if (when_full > static_cast<std::uint32_t>(WhenFull::kWait)) return false;
  if (clock > static_cast<std::uint32_t>(EventClock::kCounter)) return false;
  facts.when_full = static_cast<WhenFull>(when_full);
  facts.clock = static_cast<EventClock>(clock);
  return in.is_good() && facts.unit_ns > 0 && facts.test.size() <= snapshot_format::kMostTextBytes;
}

void Encode(const RecordingClosing& closing, ByteWriter& out) {
  out.Number(closing.end_ns);
  out.Number(closing.events);
  out.Number(closing.lost_events);
  out.Number(closing.waits);
  out.Number(closing.waited_ns);
  out.Number(closing.missing.size());
  for (const std::string& sentence : closing.missing) out.Text(sentence);
}

bool Decode(ByteReader in, RecordingClosing& closing) {
  closing.end_ns = in.Number();
  closing.events = in.Number();
  closing.lost_events = in.Number();
  closing.waits = in.Number();
  closing.waited_ns = in.Number();
  const std::uint64_t count = in.Number();
  if (count > kMostMissing) return false;
  for (std::uint64_t i = 0; i < count && in.is_good(); ++i) closing.missing.emplace_back(in.Text());
  return in.is_good();
}

}  // namespace leakgate::recording_format
