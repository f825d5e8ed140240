#include "runner/report/outer_frames.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "runner/report/function_name.h"

namespace leakgate {
namespace {

// In the order in which a description names them.
enum class Origin { kGoogleTest, kMain, kThreadStart, kProgramStart, kOther };

template <std::size_t N>
bool StartsWithAny(std::string_view text, const std::array<std::string_view, N>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return text.starts_with(prefix); });
}

bool IsThreadStart(std::string_view name) {
  constexpr std::array<std::string_view, 7> kPrefixes = {
      "start_thread",  "clone3",       "__clone3", "clone", "execute_native_thread_routine",
      "std::thread::", "std::__invoke"};
  return StartsWithAny(name, kPrefixes);
}

bool IsProgramStart(std::string_view name) {
  constexpr std::array<std::string_view, 5> kPrefixes = {"_start", "__libc_start", "_dl_",
                                                         "call_init", "__libc_csu_init"};
  return StartsWithAny(name, kPrefixes);
}

// The C library is stripped on most systems, so its start has no names.
bool IsNamelessRuntime(const Frame& frame) {
  constexpr std::array<std::string_view, 3> kPrefixes = {"libc.so", "ld-linux", "libpthread.so"};
  const std::size_t slash = frame.module.rfind('/');
  const std::string_view file =
      std::string_view(frame.module).substr(slash == std::string::npos ? 0 : slash + 1);
  return frame.function.empty() && StartsWithAny(file, kPrefixes);
}

Origin OriginOf(const Frame& frame) {
  const std::string name = QualifiedName(frame.function);
  if (name.starts_with("testing::") || name == "RUN_ALL_TESTS") return Origin::kGoogleTest;
  if (name == "main") return Origin::kMain;
  if (IsThreadStart(name)) return Origin::kThreadStart;
  if (IsProgramStart(name) || IsNamelessRuntime(frame)) return Origin::kProgramStart;
  return Origin::kOther;
}

// "GoogleTest and main": what main is called by goes without saying.
std::string Describe(const std::vector<Origin>& origins) {
  const auto has = [&](Origin origin) {
    return std::find(origins.begin(), origins.end(), origin) != origins.end();
  };
  const bool below_main_or_thread = has(Origin::kMain) || has(Origin::kThreadStart);
  std::vector<std::string_view> words;
  if (has(Origin::kGoogleTest)) words.push_back("GoogleTest");
  if (has(Origin::kMain)) words.push_back("main");
  if (has(Origin::kThreadStart)) words.push_back("thread start");
  if (has(Origin::kProgramStart) && !below_main_or_thread) words.push_back("program start");
  std::string description;
  for (const std::string_view word : words) {
    if (!description.empty()) description += " and ";
    description += word;
  }
  return description;
}

}  // namespace

OuterFrames FindOuterFrames(const Finding& finding) {
  const std::size_t first_candidate = finding.user_frame.value_or(0) + 1;
  std::size_t begin = finding.stack.size();
  std::vector<Origin> origins;
  while (begin > first_candidate) {
    const Origin origin = OriginOf(finding.stack[begin - 1]);
    if (origin == Origin::kOther) break;
    origins.push_back(origin);
    --begin;
  }
  return {begin, Describe(origins)};
}

}  // namespace leakgate
