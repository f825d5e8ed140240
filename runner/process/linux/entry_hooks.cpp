#include "runner/process/entry_hooks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runner/arch/moved_entry.h"
#include "runner/base/page_size.h"
#include "runner/process/linux/elf_symbols.h"
#include "runner/process/linux/open_proc_file.h"
#include "runner/process/proc_files.h"

namespace leakgate {
namespace {

// An allocator's function, or one that is named, at the address that its file says.
struct AllocatorFunction {
  // In kHookedFunctions, or behind that of a named one; calls by all of them go where the first's
  // do.
  std::set<std::uint32_t> names;
  std::uint64_t bytes = 0;
};
using AllocatorFunctions = std::map<std::uint64_t, AllocatorFunction>;  // by address

// The executable of a program.
class Executable {
 public:
  explicit Executable(Elf* elf) : elf_(elf) {
    GElf_Ehdr header;
    if (elf_ == nullptr || gelf_getehdr(elf_, &header) == nullptr) return;
    moves_ = header.e_type == ET_DYN;
    std::size_t count = 0;
    file_ = elf_rawfile(elf_, &file_bytes_);
    if (file_ == nullptr || elf_getphdrnum(elf_, &count) != 0) return;
    for (std::size_t i = 0; i < count; ++i) {
      GElf_Phdr segment;
      if (gelf_getphdr(elf_, static_cast<int>(i), &segment) == nullptr) break;
      if (segment.p_type != PT_LOAD) continue;
      const bool is_in_file =
          segment.p_offset <= file_bytes_ && segment.p_filesz <= file_bytes_ - segment.p_offset;
      if (is_in_file) segments_.push_back(segment);
    }
  }

  // Whether it is loaded at another address than the file says.
  [[nodiscard]] bool Moves() const { return moves_; }

  // Where its first page is, as the file says.
  [[nodiscard]] std::uint64_t Begin() const {
    return segments_.empty() ? 0 : segments_.front().p_vaddr / PageBytes() * PageBytes();
  }
  [[nodiscard]] std::uint64_t End() const {
    return segments_.empty() ? 0 : segments_.back().p_vaddr + segments_.back().p_memsz;
  }

  // Returns the code from `address` to the end of its segment; empty if there is none.
  [[nodiscard]] std::span<const std::uint8_t> CodeAt(std::uint64_t address) const {
    for (const GElf_Phdr& segment : segments_) {
      const std::uint64_t at = address - segment.p_vaddr;
      if ((segment.p_flags & PF_X) == 0 || at >= segment.p_filesz) continue;
      return {reinterpret_cast<const std::uint8_t*>(file_) + segment.p_offset + at,
              segment.p_filesz - at};
    }
    return {};
  }

  // Fails if one of them is chosen only when the program starts.
  [[nodiscard]] Expected<AllocatorFunctions> FindFunctions() const {
    AllocatorFunctions functions;
    std::unordered_map<std::string_view, std::uint32_t> numbers;
    for (std::uint32_t i = 0; i < kHookedFunctionCount; ++i) numbers[kHookedFunctions[i]] = i;
    for (const std::uint32_t type : {std::uint32_t{SHT_SYMTAB}, std::uint32_t{SHT_DYNSYM}}) {
      const ElfSymbols table = FindSymbols(elf_, type);
      for (const Elf64_Sym& symbol : table.symbols) {
        if (symbol.st_shndx == SHN_UNDEF || GELF_ST_BIND(symbol.st_info) == STB_LOCAL) continue;
        const auto number = numbers.find(table.NameOf(symbol));
        if (number == numbers.end()) continue;
        if (GELF_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC) {
          return InconclusiveError(
              fmt::format("{} is chosen as the program starts (ifunc)", number->first));
        }
        if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
        AllocatorFunction& function = functions[symbol.st_value];
        function.names.insert(number->second);
        function.bytes = std::max<std::uint64_t>(function.bytes, symbol.st_size);
      }
    }
    return functions;
  }

 private:
  Elf* elf_;
  bool moves_ = false;
  const char* file_ = nullptr;
  std::size_t file_bytes_ = 0;
  std::vector<GElf_Phdr> segments_;
};

bool HasMalloc(const AllocatorFunctions& functions) {
  return std::any_of(functions.begin(), functions.end(), [](const auto& function) {
    return std::string_view(kHookedFunctions[*function.second.names.begin()]) == "malloc";
  });
}

// Adds the named functions. One that is the allocator's is led to the agent by that name.
Expected<void> AddNamed(const std::vector<NamedEntry>& named, AllocatorFunctions& functions,
                        EntryHooks& hooks) {
  std::uint32_t count = 0;
  for (const NamedEntry& entry : named) {
    AllocatorFunction& function = functions[entry.address];
    if (!function.names.empty()) continue;
    if (count == EntryHooks::kMostNamed) {
      return InconclusiveError(
          fmt::format("budget files name more than {} functions in \"allocators\"; name fewer",
                      EntryHooks::kMostNamed));
    }
    hooks.named[count] = entry.spec;
    function.names.insert(static_cast<std::uint32_t>(kHookedFunctionCount) + count++);
    function.bytes = entry.size_bytes;
  }
  return {};
}

std::string NameOf(std::uint64_t address, const AllocatorFunction& function,
                   const std::vector<NamedEntry>& named) {
  const std::uint32_t first = *function.names.begin();
  if (first < kHookedFunctionCount) return kHookedFunctions[first];
  const auto found = std::find_if(named.begin(), named.end(), [address](const NamedEntry& entry) {
    return entry.address == address;
  });
  return found == named.end() ? "" : found->name;
}

// Returns what is to be hooked: nothing if there is nothing.
Expected<AllocatorFunctions> FunctionsToHook(const Executable& program,
                                             const std::vector<NamedEntry>& named,
                                             EntryHooks& hooks) {
  LEAKGATE_TRY_ASSIGN(AllocatorFunctions functions, program.FindFunctions());
  hooks.has_allocator = HasMalloc(functions) ? 1 : 0;
  if (hooks.has_allocator == 0) functions.clear();
  LEAKGATE_TRY(AddNamed(named, functions, hooks));
  return functions;
}

// Puts the hooks of `functions`, which are `bias` behind where the file has them, to
// `code_address`.
Expected<void> MakeHooks(const Executable& program, const AllocatorFunctions& functions,
                         const std::vector<NamedEntry>& named, std::uint64_t bias,
                         EntryHooks& hooks) {
  for (const auto& [address, function] : functions) {
    const std::string name = NameOf(address, function, named);
    constexpr std::uint64_t kHookAlignment = 16;
    const std::uint64_t place =
        (hooks.code_bytes + kHookAlignment - 1) / kHookAlignment * kHookAlignment;
    const tl::expected<MovedEntry, const char*> entry = MoveEntry(
        {.address = address + bias, .code = program.CodeAt(address), .bytes = function.bytes},
        hooks.code_address + place);
    if (!entry) return InconclusiveError(fmt::format("{}: {}", name, entry.error()));
    if (place + entry->hook.size() > EntryHooks::kMostCodeBytes) {
      return InconclusiveError("the code of its functions is too long");
    }
    for (const std::uint32_t other : function.names) {
      EntryHook& name_of_it = hooks.hooks[hooks.count++];
      name_of_it.function = other;
      name_of_it.moved = entry->moved;
    }
    EntryHook& hook = hooks.hooks[hooks.count - function.names.size()];
    hook.patch_bytes = static_cast<std::uint32_t>(entry->patch.size());
    hook.address = entry->address;
    hook.slot = entry->slot;
    std::copy(entry->patch.begin(), entry->patch.end(), hook.patch);
    if (function.names.size() > 1) hooks.frees_any_kind = 1;
    std::copy(entry->hook.begin(), entry->hook.end(), hooks.code + place);
    hooks.code_bytes = static_cast<std::uint32_t>(place + entry->hook.size());
  }
  return {};
}

// Returns where there is room for the hooks near the executable, which is mapped from `begin` to
// `end`: in front of it, since its heap may grow behind it.
Expected<std::uint64_t> FindRoom(const std::vector<MappedRange>& maps, std::uint64_t begin,
                                 std::uint64_t end) {
  const std::uint64_t room =
      (sizeof(EntryHooks::code) + PageBytes() - 1) / PageBytes() * PageBytes();
  const std::uint64_t lowest = std::max(PageBytes(), end - std::min(end, FarthestHook()));
  std::uint64_t top = begin;
  for (auto range = maps.rbegin(); range != maps.rend() && top >= lowest + room; ++range) {
    if (range->begin >= begin) continue;
    if (range->end + room <= top) break;
    top = range->begin;
  }
  if (top < lowest + room || top - room < (1U << 16)) {
    return InconclusiveError("no memory near the executable is free");
  }
  return top - room;
}

}  // namespace

Expected<std::unique_ptr<EntryHooks>> MakeEntryHooks(int pid,
                                                     const std::vector<NamedEntry>& named) {
  const UniqueFd file = OpenProcFile(pid, "exe");
  const ElfFile elf = OpenElfFile(file);
  const Executable program(elf.get());
  auto hooks = std::make_unique<EntryHooks>();
  LEAKGATE_TRY_ASSIGN(const AllocatorFunctions functions, FunctionsToHook(program, named, *hooks));
  if (functions.empty()) return nullptr;
  LEAKGATE_TRY_ASSIGN(const std::vector<MappedRange> maps, ReadMaps(pid));
  struct stat facts {};
  const auto is_its = [&](const MappedRange& range) {
    return !range.IsAnonymous() && range.inode == facts.st_ino;
  };
  const auto first =
      fstat(file.get(), &facts) == 0 ? std::find_if(maps.begin(), maps.end(), is_its) : maps.end();
  if (first == maps.end()) return InconclusiveError("where its executable is mapped is not known");
  const std::uint64_t begin = first->begin;
  const std::uint64_t bias = program.Moves() ? begin - program.Begin() : 0;
  LEAKGATE_TRY_ASSIGN(hooks->code_address, FindRoom(maps, begin, program.End() + bias));
  LEAKGATE_TRY(MakeHooks(program, functions, named, bias, *hooks));
  return hooks;
}

Expected<void> RequireEntryHooks(const UniqueFd& file, const std::vector<NamedEntry>& named) {
  const ElfFile elf = OpenElfFile(file);
  const Executable program(elf.get());
  const auto hooks = std::make_unique<EntryHooks>();
  LEAKGATE_TRY_ASSIGN(const AllocatorFunctions functions, FunctionsToHook(program, named, *hooks));
  if (functions.empty()) return {};
  constexpr std::uint64_t kSomewhere = 0x5555'5555'0000;
  const std::uint64_t bias = program.Moves() ? kSomewhere : 0;
  hooks->code_address = program.Begin() + bias - sizeof(EntryHooks::code) / 4096 * 4096 - 4096;
  return MakeHooks(program, functions, named, bias, *hooks);
}

}  // namespace leakgate
