#include "runner/report/outer_frames.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "runner/attribution/frame_origin.h"
#include "runner/report/function_text.h"

namespace leakgate {
namespace {

enum class Caller { kGoogleTest, kMain, kThreadStart, kRuntime, kUser };

bool IsThreadStart(std::string_view name) {
  constexpr std::array<std::string_view, 6> kNames = {
      "start_thread", "clone", "clone3", "__clone3", "execute_native_thread_routine",
      "std::thread"};
  return std::any_of(kNames.begin(), kNames.end(), [&](std::string_view known) {
    return name == known || name.starts_with(std::string(known) + "::");
  });
}

Caller CallerOf(const Frame& frame) {
  const std::string name = ShortName(frame.function);
  if (name == "main") return Caller::kMain;
  if (name == "RUN_ALL_TESTS") return Caller::kGoogleTest;
  if (name == "_start") return Caller::kRuntime;  // the C library's, linked into the program
  if (IsThreadStart(name)) return Caller::kThreadStart;
  switch (OriginOf(frame)) {
    case FrameOrigin::kGoogleTest:
      return Caller::kGoogleTest;
    case FrameOrigin::kUser:
      return Caller::kUser;
    case FrameOrigin::kAgent:
    case FrameOrigin::kCLibrary:
    case FrameOrigin::kCppRuntime:
      break;
  }
  return Caller::kRuntime;
}

// "GoogleTest and main": that the C library calls main goes without saying.
std::string Describe(const std::vector<Caller>& callers) {
  const auto has = [&](Caller caller) {
    return std::find(callers.begin(), callers.end(), caller) != callers.end();
  };
  std::vector<std::string_view> words;
  if (has(Caller::kGoogleTest)) words.push_back("GoogleTest");
  if (has(Caller::kMain)) words.push_back("main");
  if (has(Caller::kThreadStart)) words.push_back("the thread's start");
  if (words.empty()) words.push_back("the C library");
  return fmt::format("{}", fmt::join(words, " and "));
}

}  // namespace

bool IsOuterFrame(const Frame& frame) { return CallerOf(frame) != Caller::kUser; }

OuterFrames FindOuterFrames(const Finding& finding) {
  const std::size_t first_candidate = finding.user_frame.value_or(0) + 1;
  std::size_t begin = finding.stack.size();
  std::vector<Caller> callers;
  while (begin > first_candidate) {
    const Caller caller = CallerOf(finding.stack[begin - 1]);
    if (caller == Caller::kUser) break;
    callers.push_back(caller);
    --begin;
  }
  return {begin, Describe(callers)};
}

}  // namespace leakgate
