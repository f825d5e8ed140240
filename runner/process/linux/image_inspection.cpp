#include "runner/process/image_inspection.h"

#include <fmt/format.h>
#include <gelf.h>
#include <libelf.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <string_view>

#include "runner/arch/processor.h"
#include "runner/base/descriptors.h"
#include "runner/base/regular_file.h"
#include "runner/process/entry_hooks.h"
#include "runner/process/linux/elf_symbols.h"

namespace leakgate {
namespace {

struct Sanitizer {
  std::string_view init_symbol;
  std::string_view library;
  std::string_view name;
  std::string_view option;
};

constexpr Sanitizer kSanitizers[] = {
    {"__asan_init", "libasan.so", "AddressSanitizer", "address"},
    {"__tsan_init", "libtsan.so", "ThreadSanitizer", "thread"},
    {"__msan_init", "libmsan.so", "MemorySanitizer", "memory"},
    {"__hwasan_init", "libhwasan.so", "HWAddressSanitizer", "hwaddress"},
    {"__lsan_init", "liblsan.so", "LeakSanitizer", "leak"},
};

void NoteSanitizer(const Sanitizer& sanitizer, ElfFacts& facts) {
  facts.sanitizer = sanitizer.name;
  facts.sanitizer_option = sanitizer.option;
}

std::string ArchitectureName(const GElf_Ehdr& header) {
  switch (header.e_machine) {
    case EM_386:
      return "32-bit x86";
    case EM_X86_64:
      return header.e_ident[EI_CLASS] == ELFCLASS64 ? "x86-64" : "x32";
    case EM_AARCH64:
      return "AArch64";
    case EM_ARM:
      return "32-bit ARM";
    case EM_RISCV:
      return "RISC-V";
    case EM_PPC64:
      return "PowerPC";
    case EM_S390:
      return "S/390";
    default:
      return fmt::format("another architecture (ELF machine {})", header.e_machine);
  }
}

void ReadInterpreter(Elf* elf, ElfFacts& facts) {
  std::size_t count = 0;
  if (::elf_getphdrnum(elf, &count) != 0) return;
  std::size_t bytes = 0;
  const char* const file = ::elf_rawfile(elf, &bytes);
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr segment;
    if (::gelf_getphdr(elf, static_cast<int>(i), &segment) == nullptr) return;
    if (segment.p_type != PT_INTERP || file == nullptr) continue;
    if (segment.p_offset > bytes || segment.p_filesz > bytes - segment.p_offset) return;
    const std::string_view text(file + segment.p_offset, segment.p_filesz);
    facts.interpreter = text.substr(0, text.find('\0'));
  }
}

void NoteSymbol(std::string_view name, const Elf64_Sym& symbol, ElfFacts& facts) {
  const bool is_defined = symbol.st_shndx != SHN_UNDEF;
  const unsigned char type = GELF_ST_TYPE(symbol.st_info);
  const bool is_function = type == STT_FUNC || type == STT_GNU_IFUNC;
  if (name == "malloc" && is_defined && is_function) facts.defines_malloc = true;
  // A weak reference does not need the sanitizer; it only tests whether one is there.
  if (!is_defined && GELF_ST_BIND(symbol.st_info) == STB_WEAK) return;
  for (const Sanitizer& sanitizer : kSanitizers) {
    if (name == sanitizer.init_symbol) NoteSanitizer(sanitizer, facts);
  }
}

// The functions by which GoogleTest opens its stream of events, and writes to it. The agent answers
// these calls where they reach the C library.
constexpr std::array<std::string_view, 7> kStreamCalls = {
    "getaddrinfo", "freeaddrinfo", "socket", "connect", "write", "close", "getenv"};
constexpr std::string_view kWrap = "__wrap_";  // ld's --wrap=NAME makes calls of NAME go there

// The tables of symbols differ in which modules call the functions that they list.
enum class Callers { kFile, kAllModules };

class StreamCallSearch {
 public:
  explicit StreamCallSearch(ElfFacts& facts) : facts_(facts) {}

  void Note(std::string_view name, const Elf64_Sym& symbol, Callers callers) {
    const bool is_wrapper = name.starts_with(kWrap);
    const std::string_view called = is_wrapper ? name.substr(kWrap.size()) : name;
    const auto* const call = std::find(kStreamCalls.begin(), kStreamCalls.end(), called);
    if (call == kStreamCalls.end()) return;
    const bool is_imported = symbol.st_shndx == SHN_UNDEF;
    if (callers == Callers::kAllModules && is_imported) {
      imported_[static_cast<std::size_t>(call - kStreamCalls.begin())] = true;
    }
    const unsigned char type = GELF_ST_TYPE(symbol.st_info);
    const bool is_function = type == STT_FUNC || type == STT_GNU_IFUNC;
    if (is_imported || !is_function) return;
    // A function that is visible in only one source file may have any name.
    if (!is_wrapper && GELF_ST_BIND(symbol.st_info) == STB_LOCAL) return;
    if (callers == Callers::kAllModules && !is_wrapper) facts_.exported_stream_call = called;
    facts_.defined_stream_call = called;
  }

  bool AreAllImported() const {
    return std::all_of(imported_.begin(), imported_.end(), [](bool is) { return is; });
  }

 private:
  ElfFacts& facts_;
  std::array<bool, kStreamCalls.size()> imported_{};
};

void NoteLibrary(std::string_view name, ElfFacts& facts) {
  facts.needed.emplace_back(name);
  if (name.starts_with("libgtest")) facts.needs_google_test = true;
  for (const Sanitizer& sanitizer : kSanitizers) {
    if (name.starts_with(sanitizer.library)) NoteSanitizer(sanitizer, facts);
  }
}

// Most names belong to C++ and begin with "_Z": these are not read to their end.
void ReadSymbols(const ElfSymbols& table, Callers callers, StreamCallSearch& stream_calls,
                 ElfFacts& facts) {
  for (const Elf64_Sym& symbol : table.symbols) {
    const std::string_view name = table.RestFrom(symbol);
    if (name.starts_with("_Z")) continue;
    stream_calls.Note(table.NameOf(symbol), symbol, callers);
    if (name.starts_with("malloc") || name.starts_with("__")) {
      NoteSymbol(table.NameOf(symbol), symbol, facts);
    }
  }
}

void ReadLibraries(Elf* elf, const GElf_Shdr& header, Elf_Data* content, ElfFacts& facts) {
  const std::size_t count = header.sh_entsize == 0 ? 0 : content->d_size / header.sh_entsize;
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Dyn entry;
    if (::gelf_getdyn(content, static_cast<int>(i), &entry) == nullptr) return;
    if (entry.d_tag != DT_NEEDED) continue;
    const char* const name = ::elf_strptr(elf, header.sh_link, entry.d_un.d_val);
    if (name != nullptr) NoteLibrary(name, facts);
  }
}

void ReadSections(Elf* elf, ElfFacts& facts) {
  StreamCallSearch stream_calls(facts);
  ReadSymbols(FindSymbols(elf, SHT_SYMTAB), Callers::kFile, stream_calls, facts);
  const ElfSymbols dynamic = FindSymbols(elf, SHT_DYNSYM);
  ReadSymbols(dynamic, Callers::kAllModules, stream_calls, facts);
  facts.lacks_stream_call = !dynamic.symbols.empty() && !stream_calls.AreAllImported();
  for (Elf_Scn* section = nullptr; (section = ::elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (::gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_DYNAMIC) continue;
    Elf_Data* const content = ::elf_getdata(section, nullptr);
    if (content != nullptr) ReadLibraries(elf, header, content, facts);
  }
}

bool Contains(std::string_view bytes, std::string_view text) {
  return ::memmem(bytes.data(), bytes.size(), text.data(), text.size()) != nullptr;
}

// Returns whether the program may have `text` among its constants. Debug information, which is most
// of a file, and machine code are not read. If nothing distinguishes them, the whole file is read.
bool HasConstant(Elf* elf, std::string_view text) {
  std::size_t bytes = 0;
  const char* const file = ::elf_rawfile(elf, &bytes);
  if (file == nullptr) return false;
  const std::string_view whole(file, bytes);
  bool has_sections = false;
  for (Elf_Scn* section = nullptr; (section = ::elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (::gelf_getshdr(section, &header) == nullptr) break;
    const bool is_loaded = header.sh_type == SHT_PROGBITS && (header.sh_flags & SHF_ALLOC) != 0;
    if (!is_loaded || header.sh_offset > bytes) continue;
    has_sections = true;
    if ((header.sh_flags & SHF_EXECINSTR) != 0) continue;
    if (Contains(whole.substr(header.sh_offset, header.sh_size), text)) return true;
  }
  return !has_sections && Contains(whole, text);
}

std::optional<std::string> RefuseRights(const UniqueFd& file) {
  struct stat facts {};
  if (::fstat(file.get(), &facts) == 0 && (facts.st_mode & (S_ISUID | S_ISGID)) != 0) {
    return "it is set-uid or set-gid, and the dynamic linker ignores preloading for such files; "
           "gate a copy without that bit";
  }
  if (::fgetxattr(file.get(), "security.capability", nullptr, 0) > 0) {
    return "it has file capabilities, and the dynamic linker ignores preloading for such files; "
           "gate a copy without them (setcap -r)";
  }
  return std::nullopt;
}

std::optional<std::string> RefuseLinker(const std::filesystem::path& image) {
  if (!IsDynamicLinker(image)) return std::nullopt;
  return "it is the dynamic linker, and what it is to run is not looked at; name that program "
         "itself (leakgate run -- BINARY)";
}

std::optional<std::string> RefuseFormat(const ElfFacts& facts) {
  if (!facts.is_elf) return "it is not an ELF executable";
  if (!facts.is_of_this_processor) {
    return fmt::format(
        "it is built for {}, and this leakgate's agent for {}; build the tests for {}",
        facts.architecture, ProcessorName(), ProcessorName());
  }
  if (facts.interpreter.empty()) {
    return "it is statically linked, so no agent can be preloaded; link it dynamically (without "
           "-static or -static-pie)";
  }
  if (facts.interpreter.find("musl") != std::string::npos) {
    return "it is linked with musl, and the agent needs glibc; build the tests with glibc";
  }
  return std::nullopt;
}

std::optional<std::string> RefuseAllocator(const ElfFacts& facts, const UniqueFd& file) {
  if (!facts.sanitizer.empty()) {
    return fmt::format(
        "it is built with {}, which replaces malloc itself; gate a build without "
        "-fsanitize={}",
        facts.sanitizer, facts.sanitizer_option);
  }
  if (!facts.defines_malloc) return std::nullopt;
  const Expected<void> is_hookable = RequireEntryHooks(file);
  if (is_hookable) return std::nullopt;
  return fmt::format(
      "it defines malloc in its own executable (a linked-in tcmalloc or jemalloc?), and {}; link "
      "the allocator as a shared library, or leave it out of the test build",
      is_hookable.error().message);
}

bool NeedsLibrary(const ElfFacts& facts, std::string_view beginning) {
  return std::any_of(facts.needed.begin(), facts.needed.end(),
                     [&](const std::string& name) { return name.starts_with(beginning); });
}

// GoogleTest is in the file, or in a library of its own that calls what the file exports.
std::optional<std::string> FindStreamProblem(const ElfFacts& facts, LinkedFramework linked) {
  if (linked.framework != TestFramework::kGoogleTest || linked.has_listener) return std::nullopt;
  const std::string& instead =
      facts.needs_google_test ? facts.exported_stream_call : facts.defined_stream_call;
  const bool calls_its_own = !facts.needs_google_test && facts.lacks_stream_call;
  if (instead.empty() && !calls_its_own) return std::nullopt;
  return fmt::format(
      "{}, and GoogleTest would stream its events by that, which is how leakgate learns where "
      "tests begin; link leakgate::listener, which needs no stream",
      instead.empty() ? "it does not call the C library's own functions of sockets"
                      : fmt::format("it has a {} of its own (a mock?)", instead));
}

ElfFacts FactsOf(Elf* elf) {
  ElfFacts facts;
  GElf_Ehdr header;
  if (elf == nullptr || ::gelf_getehdr(elf, &header) == nullptr) return facts;
  facts.is_elf = true;
  facts.is_of_this_processor = IsOfThisProcessor(header.e_machine, header.e_ident[EI_CLASS]);
  if (!facts.is_of_this_processor) facts.architecture = ArchitectureName(header);
  ReadInterpreter(elf, facts);
  ReadSections(elf, facts);
  return facts;
}

}  // namespace

ElfFacts ReadElfFacts(const UniqueFd& file) { return FactsOf(OpenElfFile(file).get()); }

bool IsDynamicLinker(const std::filesystem::path& image) {
  const std::string name = image.filename().string();
  return name.starts_with("ld-linux") || name.starts_with("ld-musl") || name == "ld.so" ||
         (name.starts_with("ld-2.") && name.ends_with(".so"));
}

namespace {

ImageInspection Inspect(const std::filesystem::path& image, const UniqueFd& file) {
  const ElfFile elf = OpenElfFile(file);
  const ElfFacts facts = FactsOf(elf.get());
  ImageInspection inspection;
  inspection.is_of_other_processor = facts.is_elf && !facts.is_of_this_processor;
  inspection.has_own_allocator = facts.defines_malloc;
  inspection.refusal_of_running = RefuseFormat(facts);
  if (!inspection.refusal_of_running) inspection.refusal_of_running = RefuseAllocator(facts, file);
  if (!inspection.refusal_of_running && facts.defines_malloc) {
    inspection.refusal_of_running =
        "it defines malloc in its own executable, whose code is changed only before it runs; start "
        "it by leakgate";
  }
  inspection.refusal = RefuseLinker(image);
  if (!inspection.refusal) inspection.refusal = RefuseFormat(facts);
  if (!inspection.refusal) inspection.refusal = RefuseRights(file);
  if (!inspection.refusal) inspection.refusal = RefuseAllocator(facts, file);
  if (elf != nullptr) {
    inspection.linked = FindFramework(
        {.has_constant = [&](std::string_view text) { return HasConstant(elf.get(), text); },
         .needs_library = [&](std::string_view name) { return NeedsLibrary(facts, name); }});
  }
  inspection.stream_problem = FindStreamProblem(facts, inspection.linked);
  return inspection;
}

// Keeps the last inspection, because a run asks for its program's file several times, and the file
// may be large. Any thread may use it.
class LastInspection {
 public:
  std::optional<ImageInspection> Find(const std::string& identity) {
    const std::lock_guard lock(mutex_);
    return identity == identity_ ? inspection_ : std::nullopt;
  }
  void Keep(std::string identity, const ImageInspection& inspection) {
    const std::lock_guard lock(mutex_);
    identity_ = std::move(identity);
    inspection_ = inspection;
  }

 private:
  std::mutex mutex_;
  std::string identity_;
  std::optional<ImageInspection> inspection_;
};

// Whatever changes a file or its rights changes one of these. A run's program is asked for by its
// path and through /proc; of the path only one thing is looked at.
std::string IdentityOf(const std::filesystem::path& image, const UniqueFd& file) {
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) return {};
  return fmt::format("{} {} {} {} {}.{}", IsDynamicLinker(image), facts.st_dev, facts.st_ino,
                     facts.st_size, facts.st_ctim.tv_sec, facts.st_ctim.tv_nsec);
}

}  // namespace

Expected<ImageInspection> InspectImage(const std::filesystem::path& image) {
  static LastInspection last;
  const auto fd = OpenRegularFile(image);
  if (!fd) {
    return InconclusiveError(
        fmt::format("{}: cannot be read, so it is not known whether it can "
                    "be traced: {}; make it readable",
                    image.string(), fd.error().message()));
  }
  const std::string identity = IdentityOf(image, *fd);
  if (std::optional<ImageInspection> known = last.Find(identity)) return *std::move(known);
  const ImageInspection inspection = Inspect(image, *fd);
  if (!identity.empty()) last.Keep(identity, inspection);
  return inspection;
}

}  // namespace leakgate
