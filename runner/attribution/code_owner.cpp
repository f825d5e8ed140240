#include "runner/attribution/code_owner.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>

#include "runner/attribution/stack_pattern.h"
#include "runner/symbols/name_text.h"

namespace leakgate {

namespace {

struct KnownLibrary {
  std::string_view name;  // of the file, before ".so" or "-2.36.so"
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

std::string_view LibraryName(std::string_view path) {
  path.remove_prefix(std::min(path.rfind('/') + 1, path.size()));
  const std::size_t end = path.find(".so");
  return end == std::string_view::npos ? std::string_view() : path.substr(0, end);
}

FrameOrigin OriginOfModule(std::string_view path) {
  if (path == "[vdso]") return FrameOrigin::kCLibrary;
  if (path.find(".so") == std::string_view::npos) return FrameOrigin::kUser;
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
  if (OriginOfModule(path) != FrameOrigin::kCLibrary) return false;
  const std::string_view stem = LibraryName(path);
  return IsLibrary(stem, "ld") || stem.starts_with("ld-linux");
}

FrameOrigin OriginOf(const Frame& frame) {
  const FrameOrigin by_module = OriginOfModule(frame.module);
  if (by_module != FrameOrigin::kUser) return by_module;
  const std::string name = QualifiedNameOf(frame.function);
  if (IsInOtherFramework(name, frame.file)) return FrameOrigin::kOtherTestFramework;
  const FrameOrigin by_name = OriginOfName(name);
  // Users may write code in namespace testing, as GoogleTest's own tests do.
  const bool is_elsewhere =
      by_name == FrameOrigin::kGoogleTest && !frame.file.empty() && !IsGoogleTestFile(frame.file);
  if (is_elsewhere) return FrameOrigin::kUser;
  if (by_name != FrameOrigin::kUser) return by_name;
  if (IsBelow(frame.file, kCppFolders)) return FrameOrigin::kCppRuntime;
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
