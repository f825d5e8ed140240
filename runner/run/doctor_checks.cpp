#include <fmt/format.h>

#include "common/region_layout.h"
#include "runner/run/doctor.h"
#include "runner/run/preparation.h"

namespace leakgate {
namespace {

// What the agent maps before the program's first instruction. It maps more as the heap grows.
constexpr std::uint64_t kAgentBytes = region_offset::kChunks + kChunkBytes;

}  // namespace

Check CheckFramework(LinkedFramework linked) {
  const std::string_view name = NameOf(linked.framework);
  if (linked.has_listener) {
    return {CheckResult::kOk, "tests", fmt::format("{}, with leakgate's listener linked in", name)};
  }
  if (linked.framework == TestFramework::kGoogleTest && linked.has_stream) {
    return {CheckResult::kOk, "tests",
            "GoogleTest; its event stream tells where tests begin and end"};
  }
  if (linked.framework == TestFramework::kNone) {
    return {CheckResult::kWarning, "tests",
            "no GoogleTest found in the file, so the program is judged as a whole; name the test "
            "binary itself, unless a library of its own has GoogleTest"};
  }
  return {CheckResult::kWarning, "tests", AdviceAboutTests(linked)};
}

Check CheckSymbols(const DebugFacts& facts) {
  if (facts.has_symbols) return {CheckResult::kOk, "symbols", "functions can be named"};
  return {CheckResult::kWarning, "symbols",
          "the file is stripped, so functions are told as addresses, and patterns of functions "
          "match none; gate a build without -s or strip"};
}

Check CheckLines(const DebugFacts& facts) {
  if (facts.has_lines) {
    return {CheckResult::kOk, "lines",
            facts.separate_file.empty() ? "debug information in the file"
                                        : "debug information in " + facts.separate_file};
  }
  if (!facts.debug_link.empty()) {
    return {
        CheckResult::kWarning, "lines",
        fmt::format(
            "the debug information is in {}, which is not there, so calls have no "
            "source lines; install its package, or put it beside the file or into .debug/ there",
            facts.debug_link)};
  }
  return {CheckResult::kWarning, "lines",
          "no debug information, so calls have no source lines; build with -g"};
}

Check CheckUnwinding(const DebugFacts& facts) {
  if (facts.has_unwind_table) return {CheckResult::kOk, "unwinding", ".eh_frame and its table"};
  return {CheckResult::kWarning, "unwinding",
          "no table of .eh_frame, so stacks end at the program's own code; build without "
          "-fno-asynchronous-unwind-tables, link with -Wl,--eh-frame-hdr"};
}

Check CheckAddressSpace(std::optional<std::uint64_t> limit) {
  constexpr std::uint64_t kMebibyte = 1U << 20;
  if (!limit) return {CheckResult::kOk, "memory", "no limit on address space"};
  if (*limit > kAgentBytes) {
    return {CheckResult::kOk, "memory",
            fmt::format("{} MiB of address space, of which the agent takes {} MiB or more",
                        *limit / kMebibyte, kAgentBytes / kMebibyte)};
  }
  return {CheckResult::kNo, "memory",
          fmt::format("{} MiB of address space, and the agent alone takes {} MiB; raise the limit "
                      "on address space (ulimit -v)",
                      *limit / kMebibyte, kAgentBytes / kMebibyte)};
}

}  // namespace leakgate
