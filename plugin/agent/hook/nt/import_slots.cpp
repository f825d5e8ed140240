#include "plugin/agent/hook/nt/import_slots.h"

#include <windows.h>

#include "plugin/agent/nt/image.h"
#include "plugin/agent/nt/library_list.h"

namespace leakgate::agent {
namespace {

std::size_t ChangeSlots(const Image& image, std::uint32_t first, const SlotChange* changes,
                        std::size_t count) {
  std::size_t changed = 0;
  for (std::uint64_t at = first;; at += sizeof(std::uint64_t)) {
    auto* const slot = image.At<std::uint64_t>(at);
    if (slot == nullptr || *slot == 0) return changed;
    for (std::size_t i = 0; i < count; ++i) {
      if (*slot != changes[i].from) continue;
      if (Overwrite(slot, &changes[i].to, sizeof(*slot))) ++changed;
      break;
    }
  }
}

// What ChangeAllImportSlots does at the moment.
struct Changes {
  std::uint64_t agent = 0;
  const SlotChange* changes = nullptr;
  std::size_t count = 0;
};
constinit Changes g_changes{};

}  // namespace

std::size_t ChangeImportSlots(std::uint64_t base, const SlotChange* changes, std::size_t count) {
  const Image image(base);
  const std::uint32_t first = image.directory(IMAGE_DIRECTORY_ENTRY_IMPORT).offset;
  std::size_t changed = 0;
  for (std::uint64_t at = first; first != 0; at += sizeof(IMAGE_IMPORT_DESCRIPTOR)) {
    const auto* const from = image.At<IMAGE_IMPORT_DESCRIPTOR>(at);
    if (from == nullptr || from->Name == 0 || from->FirstThunk == 0) return changed;
    changed += ChangeSlots(image, from->FirstThunk, changes, count);
  }
  return changed;
}

void ChangeAllImportSlots(std::uint64_t agent, const SlotChange* changes, std::size_t count) {
  g_changes = {agent, changes, count};
  ForEachLibrary([](std::uint64_t base) {
    if (base != g_changes.agent) ChangeImportSlots(base, g_changes.changes, g_changes.count);
  });
}

bool Overwrite(void* place, const void* value, std::size_t bytes) {
  MEMORY_BASIC_INFORMATION facts;
  if (::VirtualQuery(place, &facts, sizeof(facts)) == 0) return false;
  constexpr DWORD kRuns =
      PAGE_EXECUTE | PAGE_EXECUTE_READ | PAGE_EXECUTE_READWRITE | PAGE_EXECUTE_WRITECOPY;
  const bool runs = (facts.Protect & kRuns) != 0;
  DWORD before = 0;
  if (::VirtualProtect(place, bytes, runs ? PAGE_EXECUTE_READWRITE : PAGE_READWRITE, &before) ==
      0) {
    return false;
  }
  __builtin_memcpy(place, value, bytes);
  ::VirtualProtect(place, bytes, before, &before);
  return true;
}

}  // namespace leakgate::agent
