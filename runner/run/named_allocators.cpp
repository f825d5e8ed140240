#include "runner/run/named_allocators.h"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "runner/base/path_text.h"
#include "runner/base/regular_file.h"
#include "runner/budget/wording.h"
#include "runner/symbols/named_functions.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

Unexpected ErrorAt(const NamedAllocator& allocator, const NamedFunction& function,
                   const fs::path& executable, std::string_view problem) {
  return InconclusiveError(fmt::format("{}:{}: {}: {}: {}: {}", PathText(allocator.file),
                                       function.line, Word(function.call), function.name,
                                       PathText(executable), problem));
}

// Returns in which of the registers for whole numbers an argument is passed; nothing if it is not,
// or not for certain. Without debug information, all arguments are taken for whole numbers.
std::optional<std::uint8_t> RegisterOf(unsigned argument, const FoundFunction& function) {
  constexpr std::size_t kRegisters = 6;  // on x86-64; Arm has more
  std::size_t place = function.has_object ? 1 : 0;
  for (unsigned i = 0; i + 1 < argument && i < function.parameters.size(); ++i) {
    if (function.parameters[i] == ParameterKind::kOther) return std::nullopt;
    if (function.parameters[i] == ParameterKind::kInteger) ++place;
  }
  if (function.parameters.empty()) {
    place += argument - 1;
  } else if (argument > function.parameters.size() ||
             function.parameters[argument - 1] != ParameterKind::kInteger) {
    return std::nullopt;
  }
  if (place >= kRegisters) return std::nullopt;
  return static_cast<std::uint8_t>(place);
}

// Fails with the number of an argument that is not passed in a register for whole numbers.
tl::expected<NamedCallSpec, unsigned> SpecOf(const NamedFunction& function,
                                             const FoundFunction& found) {
  NamedCallSpec spec{.call = function.call,
                     .pool = NamedCallSpec::kNone,
                     .block = NamedCallSpec::kNone,
                     .size = NamedCallSpec::kNone,
                     .count = NamedCallSpec::kNone,
                     .result = NamedCallSpec::kNone,
                     .reserved = {}};
  constexpr std::uint8_t kObject = 0;
  if (!function.pool && found.has_object) spec.pool = kObject;
  const std::pair<std::optional<unsigned>, std::uint8_t*> wanted[] = {
      {function.pool, &spec.pool},
      {function.block, &spec.block},
      {function.size, &spec.size},
      {function.count, &spec.count},
      {function.result, &spec.result}};
  for (const auto& [argument, place] : wanted) {
    if (!argument) continue;
    const std::optional<std::uint8_t> known = RegisterOf(*argument, found);
    if (!known) return tl::make_unexpected(*argument);
    *place = *known;
  }
  return spec;
}

Expected<void> AddFunctions(const NamedAllocator& allocator,
                            const std::vector<std::vector<FoundFunction>>& found,
                            const fs::path& executable, std::vector<NamedEntry>& entries) {
  for (std::size_t i = 0; i < allocator.functions.size(); ++i) {
    const NamedFunction& function = allocator.functions[i];
    if (found[i].empty() && !function.is_optional) {
      return ErrorAt(allocator, function, executable,
                     "is not in the program, which has others of this allocator: the compiler may "
                     "have put it into its callers; mark it __attribute__((noinline)), or take "
                     "away what names it");
    }
    for (const FoundFunction& it : found[i]) {
      if (!it.changed_symbol.empty()) {
        return ErrorAt(
            allocator, function, executable,
            fmt::format("the compiler has made {} of it, whose arguments are not known; mark it "
                        "__attribute__((noinline, noclone)), or build without -flto and -O3",
                        it.changed_symbol));
      }
      if (!it.inlined_into.empty()) {
        return ErrorAt(
            allocator, function, executable,
            fmt::format("the compiler has put it into {}, where no call is seen; mark it "
                        "__attribute__((noinline)), name that function instead, or build "
                        "with -fno-inline",
                        it.inlined_into));
      }
      const tl::expected<NamedCallSpec, unsigned> spec = SpecOf(function, it);
      if (!spec) {
        return ErrorAt(allocator, function, executable,
                       fmt::format("argument {} is no whole number or pointer that is passed in a "
                                   "register; name another one",
                                   spec.error()));
      }
      entries.push_back({.name = function.name,
                         .address = it.address,
                         .size_bytes = it.size_bytes,
                         .spec = *spec});
    }
  }
  return {};
}

using Allocators = std::vector<const NamedAllocator*>;

Expected<std::vector<NamedEntry>> Find(const fs::path& executable, const Allocators& allocators) {
  std::vector<std::string> names;
  for (const NamedAllocator* const allocator : allocators) {
    for (const NamedFunction& function : allocator->functions) names.push_back(function.name);
  }
  const std::vector<std::vector<FoundFunction>> found =
      FindNamedFunctions(executable, names, MatchesGlob);
  std::vector<NamedEntry> entries;
  auto next = found.begin();
  for (const NamedAllocator* const allocator : allocators) {
    const auto end = next + static_cast<std::ptrdiff_t>(allocator->functions.size());
    const std::vector<std::vector<FoundFunction>> own(next, end);
    next = end;
    const bool has_any =
        std::any_of(own.begin(), own.end(), [](const auto& it) { return !it.empty(); });
    if (has_any) LEAKGATE_TRY(AddFunctions(*allocator, own, executable, entries));
  }
  return entries;
}

// What was found in a file, by the entries of budget files that named it.
struct Search {
  fs::path executable;
  fs::file_time_type changed;
  std::vector<std::pair<fs::path, int>> allocators;  // files and lines

  friend auto operator<=>(const Search&, const Search&) = default;
};

}  // namespace

Expected<std::vector<NamedEntry>> FindNamedAllocators(const fs::path& executable,
                                                      const std::vector<const BudgetFile*>& files) {
  Allocators allocators;
  Search search;
  for (const BudgetFile* const file : files) {
    for (const NamedAllocator& allocator : file->allocators) {
      allocators.push_back(&allocator);
      search.allocators.emplace_back(allocator.file, allocator.line);
    }
  }
  if (allocators.empty()) return std::vector<NamedEntry>();
  std::error_code error;
  search.executable = fs::canonical(executable, error);
  if (!error) search.changed = fs::last_write_time(search.executable, error);
  if (error) return Find(executable, allocators);
  static std::mutex mutex;
  static std::map<Search, Expected<std::vector<NamedEntry>>> known;
  const std::scoped_lock lock(mutex);
  const auto found = known.find(search);
  if (found != known.end()) return found->second;
  return known.emplace(search, Find(search.executable, allocators)).first->second;
}

Expected<void> RequireNamedAllocators(const fs::path& executable,
                                      const std::vector<const BudgetFile*>& files) {
  LEAKGATE_TRY_ASSIGN(const std::vector<NamedEntry> named, FindNamedAllocators(executable, files));
  if (named.empty()) return {};
  const auto file = OpenRegularFile(executable);
  if (!file) return {};  // whoever starts it says so
  const Expected<void> hooked = RequireEntryHooks(*file, named);
  if (hooked) return {};
  return InconclusiveError(fmt::format(
      "{}: what budget files name in \"allocators\" cannot be traced: {}; take it away there, and "
      "tell of its blocks with leakgate/pool.h",
      PathText(executable), hooked.error().message));
}

fs::path ProgramFileOf(int pid) { return fmt::format("/proc/{}/exe", pid); }

}  // namespace leakgate
