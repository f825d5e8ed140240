#include "tests/stack_check/checks.h"

#include <fcntl.h>

#include <cstdio>
#include <cstring>

#include "plugin/agent/base/spin_lock.h"
#include "plugin/agent/linux/initial_stack.h"
#include "plugin/agent/linux/syscall.h"
#include "plugin/agent/unwind/module_table.h"

namespace leakgate::check {
namespace {

using agent::RawSyscall;

constexpr std::uint64_t kStacksWrittenOut = 2;  // of each place

constinit agent::SpinLock g_lock;
constinit CheckFile* g_file = nullptr;
constinit bool g_is_opened = false;

// A file of this image in the directory, or a negative error.
long Open(const char* extension, int flags) {
  const char* const directory = agent::InitialEnvironment("LEAKGATE_STACK_CHECKS");
  if (directory == nullptr) return -1;
  const RegionHeader& header = agent::g_region.header();
  char path[512];
  std::snprintf(path, sizeof(path), "%s/%d.%u.%s", directory, header.pid, header.generation,
                extension);
  return RawSyscall(SYS_openat, AT_FDCWD, agent::Word(path), flags | O_CREAT | O_CLOEXEC, 0600);
}

CheckFile* MapFile() {
  const long descriptor = Open("checks", O_RDWR);
  if (agent::IsError(descriptor)) return nullptr;
  void* mapped = nullptr;
  if (RawSyscall(SYS_ftruncate, descriptor, sizeof(CheckFile)) == 0) {
    mapped = agent::MapShared(static_cast<int>(descriptor), 0, sizeof(CheckFile));
  }
  agent::CloseDescriptor(static_cast<int>(descriptor));
  return static_cast<CheckFile*>(mapped);
}

void Describe(std::uint64_t pc, PlacePc& description) {
  constexpr std::size_t kRoom = sizeof(description.text);
  const agent::ModuleView module = pc == 0 ? agent::ModuleView{} : agent::g_modules.Find(pc - 1);
  if (module.id == 0) {
    std::snprintf(description.text, kRoom, pc == 0 ? "" : "0x%llx",
                  static_cast<unsigned long long>(pc));
    return;
  }
  const ModuleRecord& record = agent::g_region.modules()[module.id];
  std::snprintf(description.text, kRoom, "0x%llx %.*s",
                static_cast<unsigned long long>(pc - 1 - record.bias),
                static_cast<int>(record.path.length), agent::g_region.text() + record.path.offset);
}

bool IsAt(const Place& place, const Disagreement& disagreement) {
  const Comparison& first = disagreement.by_libunwind;
  return place.difference == first.difference() &&
         place.to_libgccs == disagreement.by_libgcc.difference() &&
         place.pcs[0] == first.agreed_pc() && place.pcs[1] == first.told_pc() &&
         place.pcs[2] == first.other_pc();
}

void Fill(Place& place, const Disagreement& disagreement) {
  const Comparison& first = disagreement.by_libunwind;
  place.difference = first.difference();
  place.to_libgccs = disagreement.by_libgcc.difference();
  place.pcs[0] = first.agreed_pc();
  place.pcs[1] = first.told_pc();
  place.pcs[2] = first.other_pc();
  Describe(place.pcs[0], place.agreed);
  Describe(place.pcs[1], place.told);
  Describe(place.pcs[2], place.other);
}

}  // namespace

CheckFile* Checks() {
  const agent::SpinGuard guard(g_lock);
  if (!g_is_opened) g_file = MapFile();
  g_is_opened = true;
  return g_file;
}

bool CountDisagreement(CheckFile& file, const Disagreement& disagreement) {
  const agent::SpinGuard guard(g_lock);
  const std::uint64_t count = file.place_count.load(std::memory_order_relaxed);
  std::uint64_t index = 0;
  while (index < count && !IsAt(file.places[index], disagreement)) ++index;
  if (index == CheckFile::kMaxPlaces) {
    file.unplaced.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  if (index == count) {
    Fill(file.places[index], disagreement);
    file.place_count.store(count + 1, std::memory_order_relaxed);
  }
  return file.places[index].count.fetch_add(1, std::memory_order_relaxed) < kStacksWrittenOut;
}

StackLog::StackLog() : descriptor_(Open("stacks", O_WRONLY | O_APPEND)) {}

StackLog::~StackLog() {
  if (!agent::IsError(descriptor_)) agent::CloseDescriptor(static_cast<int>(descriptor_));
}

void StackLog::Say(const char* text) {
  RawSyscall(SYS_write, descriptor_, agent::Word(text), static_cast<long>(std::strlen(text)));
}

void StackLog::SayPc(std::uint64_t pc) {
  PlacePc description;
  Describe(pc, description);
  Say("  ");
  Say(description.text);
  Say("\n");
}

}  // namespace leakgate::check
