#include "runner/attribution/code_owner.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>

#include "runner/attribution/stack_pattern.h"
#include "runner/base/path_text.h"
#include "runner/symbols/name_text.h"

namespace leakgate {

namespace {

struct KnownLibrary {
  std::string_view name;  // of the file, before ".so" or "-2.36.so"; or of a function
  FrameOrigin origin;
};

constexpr KnownLibrary kLibraries[] = {
    {"libleakgate_agent", FrameOrigin::kAgent},
    {"libc", FrameOrigin::kCLibrary},
    {"libm", FrameOrigin::kCLibrary},
    {"libmvec", FrameOrigin::kCLibrary},
    {"libpthread", FrameOrigin::kCLibrary},
    {"libdl", FrameOrigin::kCLibrary},
    {"librt", FrameOrigin::kCLibrary},
    {"ld-linux-x86-64", FrameOrigin::kCLibrary},
    {"ld-linux-aarch64", FrameOrigin::kCLibrary},
    {"ld", FrameOrigin::kCLibrary},
    {"libstdc++", FrameOrigin::kCppRuntime},
    {"libsupc++", FrameOrigin::kCppRuntime},
    {"libgcc_s", FrameOrigin::kCppRuntime},
    {"libc++", FrameOrigin::kCppRuntime},
    {"libc++abi", FrameOrigin::kCppRuntime},
    {"libgtest", FrameOrigin::kGoogleTest},
    {"libgtest_main", FrameOrigin::kGoogleTest},
    {"libgmock", FrameOrigin::kGoogleTest},
    {"libgmock_main", FrameOrigin::kGoogleTest},
    {"libCatch2", FrameOrigin::kOtherTestFramework},
    {"libCatch2Main", FrameOrigin::kOtherTestFramework},
    {"libboost_unit_test_framework", FrameOrigin::kOtherTestFramework},
};

// Libraries of Windows, by their file names in lower case, without ".dll".
constexpr KnownLibrary kDlls[] = {
    {"leakgate_agent64", FrameOrigin::kAgent},
    {"ntdll", FrameOrigin::kCLibrary},
    {"kernel32", FrameOrigin::kCLibrary},
    {"kernelbase", FrameOrigin::kCLibrary},
    {"msvcrt", FrameOrigin::kCLibrary},
    {"ucrtbase", FrameOrigin::kCLibrary},
    {"ucrtbased", FrameOrigin::kCLibrary},
    {"vcruntime140", FrameOrigin::kCLibrary},
    {"vcruntime140d", FrameOrigin::kCLibrary},
    {"libwinpthread-1", FrameOrigin::kCLibrary},
    {"vcruntime140_1", FrameOrigin::kCppRuntime},
    {"vcruntime140_1d", FrameOrigin::kCppRuntime},
    {"vcruntime140_threads", FrameOrigin::kCppRuntime},
    {"msvcp140", FrameOrigin::kCppRuntime},
    {"msvcp140d", FrameOrigin::kCppRuntime},
    {"msvcp140_1", FrameOrigin::kCppRuntime},
    {"msvcp140_2", FrameOrigin::kCppRuntime},
    {"msvcp140_atomic_wait", FrameOrigin::kCppRuntime},
    {"concrt140", FrameOrigin::kCppRuntime},
    {"libstdc++-6", FrameOrigin::kCppRuntime},
    {"libgcc_s_seh-1", FrameOrigin::kCppRuntime},
    {"libc++", FrameOrigin::kCppRuntime},
    {"libunwind", FrameOrigin::kCppRuntime},
    {"gtest", FrameOrigin::kGoogleTest},
    {"gtest_main", FrameOrigin::kGoogleTest},
    {"gmock", FrameOrigin::kGoogleTest},
    {"gmock_main", FrameOrigin::kGoogleTest},
    {"libgtest", FrameOrigin::kGoogleTest},
    {"libgtest_main", FrameOrigin::kGoogleTest},
    {"libgmock", FrameOrigin::kGoogleTest},
    {"libgmock_main", FrameOrigin::kGoogleTest},
};

// On Windows, programs often have the runtimes linked in. These are functions of theirs, as symbols
// and PDBs name them. A name at whose end is a '*' stands for all that begin so.
constexpr KnownLibrary kLinkedIn[] = {
    // winpthreads, of mingw-w64
    {"pthread_*", FrameOrigin::kCLibrary},
    {"__pthread_*", FrameOrigin::kCLibrary},
    {"_pthread_*", FrameOrigin::kCLibrary},
    {"mutex_impl_init", FrameOrigin::kCLibrary},
    {"rwlock_static_init", FrameOrigin::kCLibrary},
    {"rwl_ref*", FrameOrigin::kCLibrary},
    {"sem_init", FrameOrigin::kCLibrary},
    {"pop_pthread_mem", FrameOrigin::kCLibrary},
    {"push_pthread_mem*", FrameOrigin::kCLibrary},
    {"enterOnceObject", FrameOrigin::kCLibrary},
    {"replace_spin_keys*", FrameOrigin::kCLibrary},
    // mingw-w64's start and its parts of the C library
    {"__main", FrameOrigin::kCLibrary},
    {"__do_global_ctors", FrameOrigin::kCLibrary},
    {"__tmainCRTStartup", FrameOrigin::kCLibrary},
    {"pre_c_init", FrameOrigin::kCLibrary},
    {"pre_cpp_init", FrameOrigin::kCLibrary},
    {"__mingw_*", FrameOrigin::kCLibrary},
    {"atexit", FrameOrigin::kCLibrary},
    {"at_quick_exit", FrameOrigin::kCLibrary},
    // libgcc and libstdc++
    {"__emutls_get_address", FrameOrigin::kCLibrary},
    {"emutls_*", FrameOrigin::kCLibrary},
    {"__gthr_win32_*", FrameOrigin::kCppRuntime},
    {"__cxa_*", FrameOrigin::kCppRuntime},
    {"_Unwind_*", FrameOrigin::kCppRuntime},
    {"_GLOBAL__sub_I__ZN9__gnu_cxx9__freeresEv", FrameOrigin::kCppRuntime},
    // Microsoft's runtime
    {"mainCRTStartup", FrameOrigin::kCLibrary},
    {"WinMainCRTStartup", FrameOrigin::kCLibrary},
    {"wmainCRTStartup", FrameOrigin::kCLibrary},
    {"__scrt_*", FrameOrigin::kCLibrary},
    {"invoke_main", FrameOrigin::kCLibrary},
    {"_initterm", FrameOrigin::kCLibrary},
    {"_initterm_e", FrameOrigin::kCLibrary},
    {"__acrt_*", FrameOrigin::kCLibrary},
    {"malloc", FrameOrigin::kCLibrary},
    {"calloc", FrameOrigin::kCLibrary},
    {"realloc", FrameOrigin::kCLibrary},
    {"_malloc_*", FrameOrigin::kCLibrary},
    {"_calloc_*", FrameOrigin::kCLibrary},
    {"_realloc_*", FrameOrigin::kCLibrary},
    {"_recalloc*", FrameOrigin::kCLibrary},
    {"_aligned_*", FrameOrigin::kCLibrary},
    {"heap_alloc_dbg*", FrameOrigin::kCLibrary},
};

constexpr std::array<std::string_view, 4> kCppFolders = {"/usr/include/c++/", "/usr/lib/gcc/",
                                                         "/usr/include/x86_64-linux-gnu/c++/",
                                                         "/usr/include/aarch64-linux-gnu/c++/"};
// GoogleTest's own tests and samples are beside these folders; they count as a user's.
constexpr std::array<std::string_view, 6> kGoogleTestFolders = {
    "/usr/include/gtest/",
    "/usr/include/gmock/",
    "/usr/src/googletest/googletest/include/",
    "/usr/src/googletest/googletest/src/",
    "/usr/src/googletest/googlemock/include/",
    "/usr/src/googletest/googlemock/src/"};

bool EndsInAnyCase(std::string_view path, std::string_view end) {
  return path.size() >= end.size() && FoldedPath(path.substr(path.size() - end.size())) == end;
}

FrameOrigin OriginOfDll(std::string_view path) {
  std::string name = FoldedPath(path.substr(path.rfind('/') + 1));
  name.resize(name.size() - 4);
  // CMake's debug builds of GoogleTest
  if (name.ends_with("gtestd") || name.ends_with("gmockd")) name.pop_back();
  const auto* const known = std::find_if(std::begin(kDlls), std::end(kDlls),
                                         [&](const KnownLibrary& it) { return it.name == name; });
  return known != std::end(kDlls) ? known->origin : FrameOrigin::kUser;
}

// `stem` may have glibc's version, as "libc-2.31" has; "libm-3d" and "librt-1.0" are other
// libraries.
bool IsLibrary(std::string_view stem, std::string_view name) {
  constexpr std::string_view kVersion = "-2.";
  if (!stem.starts_with(name)) return false;
  const std::string_view rest = stem.substr(name.size());
  return rest.empty() ||
         (rest.size() > kVersion.size() && rest.starts_with(kVersion) &&
          rest.find_first_not_of("0123456789.", kVersion.size()) == std::string_view::npos);
}

template <std::size_t size>
bool IsBelow(std::string_view file, const std::array<std::string_view, size>& folders) {
  return std::any_of(folders.begin(), folders.end(),
                     [&](std::string_view folder) { return file.starts_with(folder); });
}

// Folders of Windows' toolchains may be anywhere.
bool IsOfCppToolchain(std::string_view file) {
  return IsBelow(file, kCppFolders) ||
         (IsWindowsPath(file) && (file.find("/include/c++/") != std::string_view::npos ||
                                  file.find("/VC/Tools/MSVC/") != std::string_view::npos));
}

// Returns whether the sources of Microsoft's or mingw-w64's C library are there, as its builders
// had them.
bool IsOfLinkedInCLibrary(std::string_view file) {
  constexpr std::array<std::string_view, 7> kParts = {
      "/minkernel/crts/",    "/src/vctools/crt/", "/mingw-w64-crt/", "/mingw-w64-libraries/",
      "/mingw-w64/include/",  // and of their headers
      "/ucrt/stdio.h",       "/ucrt/corecrt_"};
  return std::any_of(kParts.begin(), kParts.end(),
                     [&](std::string_view part) { return file.find(part) != file.npos; });
}

// Returns the runtime of which a function is that is linked into a program of Windows; kUser if it
// is of none, or if its source is known to be elsewhere.
FrameOrigin OriginOfLinkedIn(const Frame& frame) {
  if (!IsProgramOfWindows(frame.module)) return FrameOrigin::kUser;
  if (IsOfLinkedInCLibrary(frame.file)) return FrameOrigin::kCLibrary;
  const bool is_of_runtime = OriginOfModule(frame.module) == FrameOrigin::kCppRuntime;
  if (!is_of_runtime && !frame.file.empty() && !IsOfCppToolchain(frame.file)) {
    return FrameOrigin::kUser;
  }
  const auto* const known =
      std::find_if(std::begin(kLinkedIn), std::end(kLinkedIn), [&](const KnownLibrary& function) {
        return function.name.ends_with('*')
                   ? frame.function.starts_with(function.name.substr(0, function.name.size() - 1))
                   : frame.function == function.name;
      });
  return known != std::end(kLinkedIn) ? known->origin : FrameOrigin::kUser;
}

// Returns whether it is a file of GoogleTest, by the file's name, wherever it was built:
// ".../include/gtest/gtest.h", ".../src/gmock-matchers.cc".
bool IsGoogleTestFile(std::string_view file) {
  if (IsBelow(file, kGoogleTestFolders)) return true;
  constexpr std::array<std::string_view, 6> kParts = {
      "/gtest/", "/gmock/", "/src/gtest", "/src/gmock", "/gtest-all.cc", "/gmock-all.cc"};
  return std::any_of(kParts.begin(), kParts.end(), [&](std::string_view part) {
    return file.find(part) != std::string_view::npos;
  });
}

struct FrameworkNamespace {
  std::string_view scope;
  std::string_view files;  // a part of the path of each of its files
};
constexpr FrameworkNamespace kOtherFrameworks[] = {
    {"Catch::", "/catch"},
    {"doctest::", "/doctest"},
    {"boost::unit_test::", "/boost/test/"},
    {"boost::test_tools::", "/boost/test/"},
};

// Users may specialise templates of a framework in its namespace, in files of their own.
bool IsInOtherFramework(std::string_view name, std::string_view file) {
  return std::any_of(std::begin(kOtherFrameworks), std::end(kOtherFrameworks),
                     [&](const FrameworkNamespace& framework) {
                       return name.starts_with(framework.scope) &&
                              (file.empty() || file.find(framework.files) != file.npos);
                     });
}

FrameOrigin OriginOfName(std::string_view name) {
  // The demangler cannot read some names, such as "_ZNK7testing8internal12ReturnActionI...".
  for (const std::string_view scope :
       {"std::", "__gnu_cxx::", "__cxxabiv1::", "_ZNSt", "_ZNKSt", "_ZSt"}) {
    if (name.starts_with(scope)) return FrameOrigin::kCppRuntime;
  }
  for (const std::string_view scope : {"testing::", "_ZN7testing", "_ZNK7testing"}) {
    if (name.starts_with(scope)) return FrameOrigin::kGoogleTest;
  }
  // RUN_ALL_TESTS is inline in gtest.h, so it is compiled into the program and in no namespace.
  if (name == "RUN_ALL_TESTS") return FrameOrigin::kGoogleTest;
  if (name.starts_with("leakgate::internal::")) return FrameOrigin::kAgent;
  if (name.starts_with("operator new") || name.starts_with("operator delete")) {
    return FrameOrigin::kCppRuntime;
  }
  return FrameOrigin::kUser;
}

}  // namespace

bool IsProgramOfWindows(std::string_view path) {
  return EndsInAnyCase(path, ".exe") || EndsInAnyCase(path, ".dll");
}

bool IsOfCLibrary(const Frame& frame) {
  return OriginOfModule(frame.module) == FrameOrigin::kCLibrary ||
         OriginOfLinkedIn(frame) == FrameOrigin::kCLibrary;
}

bool IsOfCppRuntime(const Frame& frame) {
  return (IsProgramOfWindows(frame.module) ? OriginOf(frame) : OriginOfModule(frame.module)) ==
         FrameOrigin::kCppRuntime;
}

std::string_view LibraryName(std::string_view path) {
  path.remove_prefix(std::min(path.rfind('/') + 1, path.size()));
  const std::size_t end = path.find(".so");
  return end == std::string_view::npos ? std::string_view() : path.substr(0, end);
}

FrameOrigin OriginOfModule(std::string_view path) {
  if (path == "[vdso]") return FrameOrigin::kCLibrary;
  if (path.find(".so") == std::string_view::npos) {
    return EndsInAnyCase(path, ".dll") ? OriginOfDll(path) : FrameOrigin::kUser;
  }
  std::string_view stem = LibraryName(path);
  if (stem == "libgtestd" || stem == "libgmockd") stem.remove_suffix(1);  // CMake's debug builds
  const auto* const known =
      std::find_if(std::begin(kLibraries), std::end(kLibraries),
                   [&](const KnownLibrary& it) { return IsLibrary(stem, it.name); });
  return known != std::end(kLibraries) ? known->origin : FrameOrigin::kUser;
}

bool IsRuntimeModule(std::string_view path) {
  const FrameOrigin origin = OriginOfModule(path);
  return origin == FrameOrigin::kCLibrary || origin == FrameOrigin::kCppRuntime;
}

bool IsLoader(std::string_view path) {
  if (EndsInAnyCase(path, "/ntdll.dll")) return true;
  if (OriginOfModule(path) != FrameOrigin::kCLibrary) return false;
  const std::string_view stem = LibraryName(path);
  return IsLibrary(stem, "ld") || stem.starts_with("ld-linux");
}

FrameOrigin OriginOf(const Frame& frame) {
  const FrameOrigin by_module = OriginOfModule(frame.module);
  if (by_module != FrameOrigin::kUser) return by_module;
  const FrameOrigin linked_in = OriginOfLinkedIn(frame);
  if (linked_in != FrameOrigin::kUser) return linked_in;
  const std::string name = QualifiedNameOf(frame.function);
  if (IsInOtherFramework(name, frame.file)) return FrameOrigin::kOtherTestFramework;
  const FrameOrigin by_name = OriginOfName(name);
  // Users may write code in namespace testing, as GoogleTest's own tests do.
  const bool is_elsewhere =
      by_name == FrameOrigin::kGoogleTest && !frame.file.empty() && !IsGoogleTestFile(frame.file);
  if (is_elsewhere) return FrameOrigin::kUser;
  if (by_name != FrameOrigin::kUser) return by_name;
  if (IsOfCppToolchain(frame.file)) return FrameOrigin::kCppRuntime;
  return IsBelow(frame.file, kGoogleTestFolders) ? FrameOrigin::kGoogleTest : FrameOrigin::kUser;
}

namespace {

using FrameMatcher = bool (*)(std::string_view glob, const NamedFrame& frame);

// Returns the length of the longest of `globs` that matches; 0 if none does.
std::size_t LongestMatch(const std::vector<std::string>& globs, const NamedFrame& frame,
                         FrameMatcher matches) {
  std::size_t longest = 0;
  for (const std::string& glob : globs) {
    if (matches(glob, frame)) longest = std::max(longest, glob.size());
  }
  return longest;
}

// Returns how strongly the code claims a frame; 0 if it does not.
std::size_t ClaimOn(const CodePatterns& code, const NamedFrame& frame) {
  return std::max({LongestMatch(code.paths, frame, MatchesFile),
                   LongestMatch(code.functions, frame, MatchesFunction),
                   LongestMatch(code.modules, frame, MatchesModule)});
}

const BudgetFile* OwnerOfFrame(const std::vector<const BudgetFile*>& files,
                               const NamedFrame& frame) {
  const BudgetFile* owner = nullptr;
  std::size_t strongest = 0;
  for (const BudgetFile* file : files) {
    const std::size_t claim = ClaimOn(file->code, frame);
    if (claim <= strongest) continue;
    strongest = claim;
    owner = file;
  }
  return owner;
}

}  // namespace

bool IsUserFrame(const Frame& frame) { return OriginOf(frame) == FrameOrigin::kUser; }

namespace {

using FrameIterator = std::vector<Frame>::const_iterator;

// Returns the first frame that is not within operator new. What a program's own operator new calls
// allocates for the caller of the operator.
FrameIterator OutsideOperatorNew(const std::vector<Frame>& stack) {
  return std::find_if(stack.rbegin(), stack.rend(),
                      [](const Frame& frame) {
                        return frame.function.starts_with("operator new(") ||
                               frame.function.starts_with("operator new[](");
                      })
      .base();
}

}  // namespace

bool IsOfSystemLibrary(const Frame& frame) {
  constexpr std::string_view kHeaders = "/usr/include/";
  if (frame.file.starts_with(kHeaders)) return true;
  const std::string_view path = frame.module;
  if (frame.file.empty() && EndsInAnyCase(path, ".dll")) {
    return FoldedPath(path).find("/windows/system32/") != std::string::npos;
  }
  return frame.file.empty() && path.find(".so") != std::string_view::npos &&
         (path.starts_with("/lib/") || path.starts_with("/lib64/") ||
          path.starts_with("/usr/lib/") || path.starts_with("/usr/lib64/"));
}

std::optional<std::size_t> FindUserFrame(const std::vector<Frame>& stack) {
  const FrameIterator begin = OutsideOperatorNew(stack);
  const auto is_own = [](const Frame& frame) {
    return frame.wrapper == Wrapper::kNo && IsUserFrame(frame);
  };
  auto found = std::find_if(begin, stack.end(), [&](const Frame& frame) {
    return is_own(frame) && !IsOfSystemLibrary(frame);
  });
  // Main calls all: the library's function tells more.
  const bool is_main = found != stack.end() && QualifiedNameOf(found->function) == "main";
  if (found == stack.end() || is_main) found = std::find_if(begin, stack.end(), is_own);
  if (found == stack.end()) found = std::find_if(begin, stack.end(), IsUserFrame);
  if (found == stack.end()) found = std::find_if(stack.begin(), stack.end(), IsUserFrame);
  if (found == stack.end()) return std::nullopt;
  return static_cast<std::size_t>(found - stack.begin());
}

const BudgetFile* OwnerOf(const std::vector<const BudgetFile*>& files,
                          const std::vector<Frame>& stack) {
  for (auto frame = OutsideOperatorNew(stack); frame != stack.end(); ++frame) {
    if (frame->wrapper != Wrapper::kNo || !IsUserFrame(*frame)) continue;
    if (const BudgetFile* owner = OwnerOfFrame(files, NamedFrame(*frame))) return owner;
  }
  const auto unowned = std::find_if(files.begin(), files.end(), [](const BudgetFile* file) {
    return file->component == kUnowned;
  });
  return unowned == files.end() ? nullptr : *unowned;
}

}  // namespace leakgate
