#include "runner/symbols/nt/pdb_reader.h"

#include "runner/base/nt/win32.h"

// It needs <windows.h>.
#include <dbghelp.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <utility>

#include "runner/base/file_version.h"
#include "runner/base/path_text.h"
#include "runner/symbols/name_text.h"
#include "runner/symbols/nt/msvc_names.h"

namespace leakgate {
namespace {

// DbgHelp's functions. Those for inlined functions are missing in Debian's headers, and in the
// library before Windows 8.
struct DbgHelp {
  template <typename Function>
  static void Find(HMODULE library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(reinterpret_cast<void*>(::GetProcAddress(library, name)));
  }

  DbgHelp() {
    const HMODULE library = ::LoadLibraryExW(L"dbghelp.dll", nullptr, LOAD_LIBRARY_SEARCH_SYSTEM32);
    if (library == nullptr) return;
    Find(library, "SymSetOptions", set_options);
    Find(library, "SymInitializeW", initialize);
    Find(library, "SymSetSearchPathW", set_search_path);
    Find(library, "SymLoadModuleExW", load_module);
    Find(library, "SymUnloadModule64", unload_module);
    Find(library, "SymGetModuleInfoW64", get_module);
    Find(library, "SymFromAddrW", from_address);
    Find(library, "SymGetLineFromAddrW64", line_from_address);
    Find(library, "SymAddrIncludeInlineTrace", count_inlined);
    Find(library, "SymQueryInlineTrace", query_inlined);
    Find(library, "SymFromInlineContextW", from_inlined);
    Find(library, "SymGetLineFromInlineContextW", line_from_inlined);
    if (set_options == nullptr || initialize == nullptr || load_module == nullptr) return;
    set_options(SYMOPT_UNDNAME | SYMOPT_LOAD_LINES | SYMOPT_FAIL_CRITICAL_ERRORS |
                SYMOPT_NO_PROMPTS | SYMOPT_EXACT_SYMBOLS | SYMOPT_NO_IMAGE_SEARCH);
    // Any value that is no process's: nothing is read from one.
    is_ready = initialize(session, L"", FALSE) != FALSE;
  }

  const HANDLE session = &is_ready;
  bool is_ready = false;
  DWORD(WINAPI* set_options)(DWORD) = nullptr;
  BOOL(WINAPI* initialize)(HANDLE, PCWSTR, BOOL) = nullptr;
  BOOL(WINAPI* set_search_path)(HANDLE, PCWSTR) = nullptr;
  DWORD64(WINAPI* load_module)
  (HANDLE, HANDLE, PCWSTR, PCWSTR, DWORD64, DWORD, PMODLOAD_DATA, DWORD) = nullptr;
  BOOL(WINAPI* unload_module)(HANDLE, DWORD64) = nullptr;
  BOOL(WINAPI* get_module)(HANDLE, DWORD64, IMAGEHLP_MODULEW64*) = nullptr;
  BOOL(WINAPI* from_address)(HANDLE, DWORD64, DWORD64*, SYMBOL_INFOW*) = nullptr;
  BOOL(WINAPI* line_from_address)(HANDLE, DWORD64, DWORD*, IMAGEHLP_LINEW64*) = nullptr;
  DWORD(WINAPI* count_inlined)(HANDLE, DWORD64) = nullptr;
  BOOL(WINAPI* query_inlined)
  (HANDLE, DWORD64, DWORD, DWORD64, DWORD64, DWORD*, DWORD*) = nullptr;
  BOOL(WINAPI* from_inlined)(HANDLE, DWORD64, ULONG, DWORD64*, SYMBOL_INFOW*) = nullptr;
  BOOL(WINAPI* line_from_inlined)
  (HANDLE, DWORD64, ULONG, DWORD64, DWORD*, IMAGEHLP_LINEW64*) = nullptr;
};

std::mutex g_dbghelp_lock;
const DbgHelp& Library(const std::scoped_lock<std::mutex>&) {
  static const DbgHelp library;
  return library;
}

// A symbol with room for its name, which begins at its end.
class NamedSymbol {
 public:
  NamedSymbol() {
    info().SizeOfStruct = sizeof(SYMBOL_INFOW);
    info().MaxNameLen = kMostName;
  }
  [[nodiscard]] SYMBOL_INFOW& info() { return *reinterpret_cast<SYMBOL_INFOW*>(bytes_); }
  [[nodiscard]] std::string Name() {
    const wchar_t* const name = info().Name;
    const std::size_t most = std::min<std::size_t>(info().NameLen, kMostName);
    return ItaniumSpelling(Utf8Of(std::wstring(name, std::find(name, name + most, L'\0'))));
  }

 private:
  static constexpr ULONG kMostName = 2048;
  alignas(SYMBOL_INFOW) std::byte bytes_[sizeof(SYMBOL_INFOW) + kMostName * sizeof(wchar_t)]{};
};

SourcePosition PositionOf(const IMAGEHLP_LINEW64& line) {
  constexpr DWORD kNone = 0xF00F00;  // as for code that no line stands for
  if (line.FileName == nullptr || line.LineNumber >= kNone) return {};
  return {SourcePath("", Utf8Of(line.FileName).c_str()), static_cast<int>(line.LineNumber)};
}

// Each module is at addresses of its own, and none is ever where another was.
std::uint64_t NextBase(std::uint64_t bytes) {
  constexpr std::uint64_t kGap = 1U << 20;
  static std::uint64_t next = std::uint64_t{1} << 32;
  return std::exchange(next, (next + bytes + 2 * kGap - 1) & ~(kGap - 1));
}

}  // namespace

std::unique_ptr<PdbReader> PdbReader::Open(const std::string& module,
                                           const std::vector<std::filesystem::path>& directories) {
  const std::scoped_lock lock(g_dbghelp_lock);
  const DbgHelp& library = Library(lock);
  if (!library.is_ready) return nullptr;
  const std::filesystem::path path = PathOf(module);
  std::wstring search = path.parent_path().wstring();
  for (const std::filesystem::path& directory : directories) search += L";" + directory.wstring();
  const std::optional<FileVersion> version = VersionOf(path);
  library.set_search_path(library.session, search.c_str());
  // The image in memory may be larger than the file, but not by a gigabyte.
  const DWORD64 base = library.load_module(
      library.session, nullptr, path.c_str(), nullptr,
      NextBase((version ? version->size : 0) + (std::uint64_t{1} << 30)), 0, nullptr, 0);
  if (base == 0) return nullptr;
  IMAGEHLP_MODULEW64 facts{};
  facts.SizeOfStruct = sizeof facts;
  const bool has_pdb = library.get_module(library.session, base, &facts) != FALSE &&
                       facts.SymType == SymPdb && facts.PdbUnmatched == FALSE;
  if (!has_pdb) {
    library.unload_module(library.session, base);
    return nullptr;
  }
  return std::unique_ptr<PdbReader>(new PdbReader(base, Utf8Of(facts.LoadedPdbName)));
}

PdbReader::~PdbReader() {
  const std::scoped_lock lock(g_dbghelp_lock);
  const DbgHelp& library = Library(lock);
  library.unload_module(library.session, base_);
}

std::vector<DebugFunction> PdbReader::FunctionsAt(std::uint64_t address) const {
  constexpr DWORD kMostInlined = 256;
  const std::scoped_lock lock(g_dbghelp_lock);
  const DbgHelp& library = Library(lock);
  const HANDLE session = library.session;
  const DWORD64 pc = base_ + address;
  std::vector<DebugFunction> functions;
  const auto add = [&](NamedSymbol& symbol, const IMAGEHLP_LINEW64& line) {
    DebugFunction& function = functions.emplace_back();
    function.name = symbol.Name();
    function.position = PositionOf(line);
  };

  IMAGEHLP_LINEW64 line{};
  line.SizeOfStruct = sizeof line;
  DWORD64 offset = 0;
  DWORD line_offset = 0;
  DWORD context = 0;
  DWORD index = 0;
  DWORD count = library.query_inlined == nullptr ? 0 : library.count_inlined(session, pc);
  count = std::min(count, kMostInlined);
  if (count != 0 && !library.query_inlined(session, pc, 0, pc, pc, &context, &index)) count = 0;
  for (DWORD i = 0; i < count; ++i) {
    NamedSymbol symbol;
    if (!library.from_inlined(session, pc, context + i, &offset, &symbol.info())) continue;
    if (!library.line_from_inlined(session, pc, context + i, 0, &line_offset, &line)) line = {};
    add(symbol, line);
    line.SizeOfStruct = sizeof line;
  }
  NamedSymbol symbol;
  if (!library.from_address(session, pc, &offset, &symbol.info())) return {};
  const bool has_line =
      count != 0 ? library.line_from_inlined(session, pc, context + count, 0, &line_offset, &line)
                 : library.line_from_address(session, pc, &line_offset, &line);
  add(symbol, has_line ? line : IMAGEHLP_LINEW64{});
  functions.back().begin = symbol.info().Address - base_;
  return functions;
}

std::optional<VariableExtent> PdbReader::ExtentAt(std::uint64_t address) const {
  const std::scoped_lock lock(g_dbghelp_lock);
  const DbgHelp& library = Library(lock);
  NamedSymbol symbol;
  DWORD64 offset = 0;
  if (!library.from_address(library.session, base_ + address, &offset, &symbol.info())) {
    return std::nullopt;
  }
  const std::uint64_t begin = symbol.info().Address - base_;
  return VariableExtent{begin, begin + std::max<std::uint64_t>(symbol.info().Size, 8)};
}

std::optional<Variable> PdbReader::VariableAt(std::uint64_t address) const {
  const std::scoped_lock lock(g_dbghelp_lock);
  const DbgHelp& library = Library(lock);
  NamedSymbol symbol;
  DWORD64 offset = 0;
  if (!library.from_address(library.session, base_ + address, &offset, &symbol.info())) {
    return std::nullopt;
  }
  if (offset >= std::max<std::uint64_t>(symbol.info().Size, 8)) return std::nullopt;
  return Variable{symbol.Name(), {}};
}

std::string PdbLibraryVersion() { return "DbgHelp"; }

}  // namespace leakgate
