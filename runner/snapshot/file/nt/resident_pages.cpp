#include "runner/snapshot/file/resident_pages.h"

#include <fmt/format.h>

#include <algorithm>

#include "runner/base/nt/win32.h"
#include "runner/base/page_size.h"
// It needs <windows.h>.
#include <psapi.h>

namespace leakgate {
namespace {

// What a working set has cannot be had otherwise than page by page. For larger mappings the result
// is unknown, as on Linux.
constexpr std::uint64_t kMostBytes = 256ULL << 30;
constexpr std::size_t kPagesAtOnce = 4096;

class WorkingSet {
 public:
  explicit WorkingSet(int pid)
      : process_(OwnHandle(OpenProcess(PROCESS_QUERY_INFORMATION | PROCESS_VM_READ, FALSE,
                                       static_cast<DWORD>(pid)))),
        asked_(kPagesAtOnce) {}

  [[nodiscard]] bool IsOpen() const { return static_cast<bool>(process_); }

  // Returns pages that are not known if the system does not say. Pages that are swapped out cannot
  // be told from those that were never touched.
  MappingPages Ask(const MappingCopy& mapping) {
    const std::uint64_t end = mapping.address + mapping.size_bytes;
    if (mapping.address == 0 || mapping.size_bytes > kMostBytes - asked_bytes_) return {};
    asked_bytes_ += mapping.size_bytes;
    MappingPages pages{.are_known = true};
    for (std::uint64_t at = mapping.address & ~(PageBytes() - 1); at < end;) {
      const std::uint64_t left = (end - at + PageBytes() - 1) / PageBytes();
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(left, kPagesAtOnce));
      for (std::size_t i = 0; i < count; ++i) {
        asked_[i].VirtualAddress = reinterpret_cast<void*>(at + i * PageBytes());
      }
      const auto bytes = static_cast<DWORD>(count * sizeof(asked_[0]));
      if (QueryWorkingSetEx(HandleOf(process_), asked_.data(), bytes) == 0) return {};
      for (std::size_t i = 0; i < count; ++i, at += PageBytes()) {
        if (asked_[i].VirtualAttributes.Valid == 0) continue;
        pages.resident_bytes += std::min(at + PageBytes(), end) - std::max(at, mapping.address);
      }
    }
    return pages;
  }

 private:
  UniqueFd process_;
  std::vector<PSAPI_WORKING_SET_EX_INFORMATION> asked_;
  std::uint64_t asked_bytes_ = 0;
};

}  // namespace

ResidentPages FindResidentPages(int pid, const std::vector<MappingCopy>& mappings, AskForPages) {
  ResidentPages pages;
  WorkingSet set(pid);
  for (const MappingCopy& mapping : mappings) {
    pages.mappings.push_back(set.IsOpen() ? set.Ask(mapping) : MappingPages{});
  }
  const bool is_any_known = std::any_of(pages.mappings.begin(), pages.mappings.end(),
                                        [](const MappingPages& of) { return of.are_known; });
  if (is_any_known) {
    pages.all.source = PageSource::kPageMap;
  } else if (!mappings.empty()) {
    pages.all.problem = "the kernel gave no information about any page";
  }
  return pages;
}

// No process executes another program here, and the callers keep a handle of the process, so its
// number is no other's.
ResidentPages FindResidentPages(int pid, const RegionReader&,
                                const std::vector<MappingCopy>& mappings) {
  return FindResidentPages(pid, mappings, AskForPages::kAsKernelCan);
}

}  // namespace leakgate
