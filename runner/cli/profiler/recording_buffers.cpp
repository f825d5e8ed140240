#include "runner/cli/profiler/recording_buffers.h"

#include <fmt/format.h>

#include "runner/base/sizes_and_times.h"
#include "runner/cli/option_values.h"
#include "runner/region/amount.h"

namespace leakgate {
namespace {

constexpr std::uint32_t kDefaultBufferBytes = 64 * 1024;
constexpr std::uint32_t kDefaultBuffers = 128;
constexpr std::uint64_t kPageBytes = 4096;

const Choices<WhenFull> kWhenFull = {
    "WHAT", "way", "--when-full={}", {{"wait", WhenFull::kWait}, {"lose", WhenFull::kLose}}};

// Reads "64K", "1M" or a number of bytes.
Expected<std::uint32_t> ParseBufferBytes(const std::string& option, const std::string& text) {
  const std::uint64_t bytes = ReadWholeSize(text).value_or(0);
  if (bytes < kPageBytes || bytes > kMostBufferBytes) {
    return UsageError(
        fmt::format("{} '{}': write a size from 4K to 1M, such as 64K", option, text));
  }
  return static_cast<std::uint32_t>((bytes + kPageBytes - 1) / kPageBytes * kPageBytes);
}

Expected<std::uint32_t> ParseBuffers(const std::string& option, const std::string& text) {
  LEAKGATE_TRY_ASSIGN(const std::uint64_t count, ParseCount(option, text));
  if (count <= kMaxEventBuffers) return static_cast<std::uint32_t>(count);
  return UsageError(fmt::format("{} '{}': write at most {}", option, text, kMaxEventBuffers));
}

}  // namespace

void DeclareBuffers(GivenBuffers& buffers, OptionList& options) {
  options.Add("--buffer-size", TextWord("SIZE"), buffers.bytes, ParseBufferBytes,
              "How large one buffer for events is, 4K to 1M. Default: 64K");
  options.Add("--buffers", TextWord("N"), buffers.count, ParseBuffers,
              fmt::format("How many buffers there are. Default: {}", kDefaultBuffers));
  options.AddChoice("--when-full", kWhenFull, buffers.when_full,
                    "What a thread does when all buffers are full: wait, so that nothing is lost, "
                    "or lose: the program never waits, and what is lost is counted. Default: wait "
                    "for a program that is launched, lose for one that runs already");
}

Expected<EventRequest> BuffersOf(const GivenBuffers& given, WhenFull otherwise) {
  const EventRequest request{.buffer_bytes = given.bytes.value_or(kDefaultBufferBytes),
                             .buffer_count = given.count.value_or(kDefaultBuffers),
                             .when_full = given.when_full.value_or(otherwise)};
  if (std::uint64_t{request.buffer_bytes} * request.buffer_count <= kMaxEventBytes) return request;
  return UsageError(fmt::format(
      "--buffers {} of {} are more than {}; ask for fewer, or smaller ones", request.buffer_count,
      FormatBytes(request.buffer_bytes), FormatBytes(static_cast<std::int64_t>(kMaxEventBytes))));
}

}  // namespace leakgate
