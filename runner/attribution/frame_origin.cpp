#include "runner/attribution/frame_origin.h"

#include <algorithm>
#include <array>
#include <string>

#include "runner/symbols/name_text.h"

namespace leakgate {
namespace {

struct KnownLibrary {
  std::string_view name;  // of the file, before ".so" or "-2.36.so"
  FrameOrigin origin;
};

constexpr std::array kLibraries = {
    KnownLibrary{"libleakgate_agent", FrameOrigin::kAgent},
    KnownLibrary{"libc", FrameOrigin::kCLibrary},
    KnownLibrary{"libm", FrameOrigin::kCLibrary},
    KnownLibrary{"libmvec", FrameOrigin::kCLibrary},
    KnownLibrary{"libpthread", FrameOrigin::kCLibrary},
    KnownLibrary{"libdl", FrameOrigin::kCLibrary},
    KnownLibrary{"librt", FrameOrigin::kCLibrary},
    KnownLibrary{"ld-linux-x86-64", FrameOrigin::kCLibrary},
    KnownLibrary{"ld-linux-aarch64", FrameOrigin::kCLibrary},
    KnownLibrary{"ld", FrameOrigin::kCLibrary},
    KnownLibrary{"libstdc++", FrameOrigin::kCppRuntime},
    KnownLibrary{"libsupc++", FrameOrigin::kCppRuntime},
    KnownLibrary{"libgcc_s", FrameOrigin::kCppRuntime},
    KnownLibrary{"libc++", FrameOrigin::kCppRuntime},
    KnownLibrary{"libc++abi", FrameOrigin::kCppRuntime},
    KnownLibrary{"libgtest", FrameOrigin::kGoogleTest},
    KnownLibrary{"libgtest_main", FrameOrigin::kGoogleTest},
    KnownLibrary{"libgmock", FrameOrigin::kGoogleTest},
    KnownLibrary{"libgmock_main", FrameOrigin::kGoogleTest},
};

constexpr std::array<std::string_view, 3> kCppFolders = {"/usr/include/c++/", "/usr/lib/gcc/",
                                                         "/usr/include/x86_64-linux-gnu/c++/"};
// Its own tests and samples are beside them, and are anybody's tests.
constexpr std::array<std::string_view, 6> kGoogleTestFolders = {
    "/usr/include/gtest/",
    "/usr/include/gmock/",
    "/usr/src/googletest/googletest/include/",
    "/usr/src/googletest/googletest/src/",
    "/usr/src/googletest/googlemock/include/",
    "/usr/src/googletest/googlemock/src/"};

// "/lib/libgtest.so.1.12.1" and "/lib/libc-2.31.so" without folder and ending.
std::string_view Stem(std::string_view path) {
  path.remove_prefix(std::min(path.rfind('/') + 1, path.size()));
  return path.substr(0, path.find(".so"));
}

// `stem` may have a version: "libc-2.31".
bool IsLibrary(std::string_view stem, std::string_view name) {
  if (!stem.starts_with(name)) return false;
  const std::string_view rest = stem.substr(name.size());
  return rest.empty() || (rest.size() > 1 && rest[0] == '-' && rest[1] >= '0' && rest[1] <= '9');
}

template <std::size_t size>
bool IsBelow(std::string_view file, const std::array<std::string_view, size>& folders) {
  return std::any_of(folders.begin(), folders.end(),
                     [&](std::string_view folder) { return file.starts_with(folder); });
}

// By its name, wherever it was built: ".../include/gtest/gtest.h", ".../src/gmock-matchers.cc".
bool IsGoogleTestFile(std::string_view file) {
  if (IsBelow(file, kGoogleTestFolders)) return true;
  constexpr std::array<std::string_view, 6> kParts = {
      "/gtest/", "/gmock/", "/src/gtest", "/src/gmock", "/gtest-all.cc", "/gmock-all.cc"};
  return std::any_of(kParts.begin(), kParts.end(), [&](std::string_view part) {
    return file.find(part) != std::string_view::npos;
  });
}

FrameOrigin OriginOfName(std::string_view name) {
  // Some names are beyond the demangler: "_ZNK7testing8internal12ReturnActionI...".
  for (const std::string_view scope :
       {"std::", "__gnu_cxx::", "__cxxabiv1::", "_ZNSt", "_ZNKSt", "_ZSt"}) {
    if (name.starts_with(scope)) return FrameOrigin::kCppRuntime;
  }
  for (const std::string_view scope : {"testing::", "_ZN7testing", "_ZNK7testing"}) {
    if (name.starts_with(scope)) return FrameOrigin::kGoogleTest;
  }
  if (name.starts_with("operator new") || name.starts_with("operator delete")) {
    return FrameOrigin::kCppRuntime;
  }
  return FrameOrigin::kUser;
}

}  // namespace

FrameOrigin OriginOfModule(std::string_view path) {
  if (path == "[vdso]") return FrameOrigin::kCLibrary;
  if (path.find(".so") == std::string_view::npos) return FrameOrigin::kUser;
  std::string_view stem = Stem(path);
  if (stem == "libgtestd" || stem == "libgmockd") stem.remove_suffix(1);  // CMake's debug builds
  const auto* const known =
      std::find_if(kLibraries.begin(), kLibraries.end(),
                   [&](const KnownLibrary& it) { return IsLibrary(stem, it.name); });
  return known != kLibraries.end() ? known->origin : FrameOrigin::kUser;
}

bool IsRuntimeModule(std::string_view path) {
  const FrameOrigin origin = OriginOfModule(path);
  return origin == FrameOrigin::kCLibrary || origin == FrameOrigin::kCppRuntime;
}

bool IsLoader(std::string_view path) {
  if (OriginOfModule(path) != FrameOrigin::kCLibrary) return false;
  const std::string_view stem = Stem(path);
  return IsLibrary(stem, "ld") || stem.starts_with("ld-linux");
}

FrameOrigin OriginOf(const Frame& frame) {
  const FrameOrigin by_module = OriginOfModule(frame.module);
  if (by_module != FrameOrigin::kUser) return by_module;
  const FrameOrigin by_name = OriginOfName(QualifiedNameOf(frame.function));
  // Whoever opens namespace testing, GoogleTest's own tests among them, writes code of
  // their own there.
  const bool is_elsewhere =
      by_name == FrameOrigin::kGoogleTest && !frame.file.empty() && !IsGoogleTestFile(frame.file);
  if (is_elsewhere) return FrameOrigin::kUser;
  if (by_name != FrameOrigin::kUser) return by_name;
  if (IsBelow(frame.file, kCppFolders)) return FrameOrigin::kCppRuntime;
  return IsBelow(frame.file, kGoogleTestFolders) ? FrameOrigin::kGoogleTest : FrameOrigin::kUser;
}

}  // namespace leakgate
