#include "runner/host/nt/child_notes.h"

#include "common/nt_child_notes.h"
#include "runner/base/nt/win32.h"

namespace leakgate {
namespace {

std::chrono::steady_clock::time_point TimeAt(std::uint64_t ns) {
  return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(ns));
}

// Nothing if there is none, or if its lengths cannot be.
std::optional<NotedChild> Read(const NtChildNote& shared, int pid) {
  const std::uint32_t number = shared.number.load(std::memory_order_acquire);
  if (number == 0 || shared.pid != pid) return std::nullopt;
  NotedChild note{.began = shared.began,
                  .times = {TimeAt(shared.called_ns), TimeAt(shared.returned_ns)},
                  .image = {},
                  .command_line = {}};
  const std::uint32_t image = shared.image_length;
  const std::uint32_t line = shared.command_length;
  const std::u16string text(shared.text, NtChildNote::kLetters);
  std::atomic_thread_fence(std::memory_order_acquire);
  if (shared.number.load(std::memory_order_relaxed) != number || image > text.size()) {
    return std::nullopt;
  }
  note.image.assign(text.begin(), text.begin() + image);
  if (line <= text.size() - image) {
    note.command_line.emplace(text.begin() + image, text.begin() + image + line);
  }
  return note;
}

}  // namespace

ChildNotes::ChildNotes(const UniqueFd& region) {
  if (auto mapped = Mapping::Map(region, 0, region_offset::kMailbox, MappingAccess::kReadOnly)) {
    memory_ = *std::move(mapped);
  }
}

std::optional<NotedChild> ChildNotes::Take(int pid, std::optional<std::uint64_t> began) {
  std::optional<NotedChild> found;
  if (memory_.size() == 0) return found;
  const auto& notes = *reinterpret_cast<const NtChildNotes*>(memory_.data() + kNtChildNotesOffset);
  std::uint64_t& last = last_[pid];
  for (const NtChildNote& shared : notes.notes) {
    std::optional<NotedChild> note = Read(shared, pid);
    const bool is_it = note && (began ? note->began == *began : note->began > last);
    if (is_it && (!found || note->began < found->began)) found = std::move(note);
  }
  if (began || found) last = began ? *began : found->began;
  return found;
}

}  // namespace leakgate
