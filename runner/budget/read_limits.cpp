#include "runner/budget/read_limits.h"

#include "runner/budget/read_numbers.h"

namespace leakgate {
namespace {

constexpr std::string_view kAmountExample = R"({"bytes": "64 KiB", "blocks": 2})";
constexpr std::string_view kBytesExample = R"({"bytes": "64 KiB"})";
constexpr std::string_view kWindowExample = R"({"outstanding": {"bytes": "64 KiB"}})";
constexpr std::string_view kLimitsExample = R"({"test": {"outstanding": {"bytes": "64 KiB"}}})";

Expected<AmountLimits> ReadAmount(const LocatedValue& value, const JsonPlace& place) {
  AmountLimits amount;
  const Expected<void> read = ReadNonEmptyObject(
      value, place,
      {{"bytes", Into(amount.bytes, ReadBytes)}, {"blocks", Into(amount.blocks, ReadBlocks)}},
      kAmountExample);
  if (!read) return Unexpected(read.error());
  return amount;
}

// What only bytes are counted of: an object all the same, like the others.
Expected<Limit> ReadBytesOnly(const LocatedValue& value, const JsonPlace& place) {
  Limit bytes;
  const Expected<void> read =
      ReadNonEmptyObject(value, place, {{"bytes", Into(bytes, ReadBytes)}}, kBytesExample);
  if (!read) return Unexpected(read.error());
  return bytes;
}

Expected<WindowLimits> ReadWindow(const LocatedValue& value, const JsonPlace& place) {
  WindowLimits window;
  const Expected<void> read =
      ReadNonEmptyObject(value, place,
                         {{"outstanding", Into(window.outstanding, ReadAmount)},
                          {"lost", Into(window.lost, ReadAmount)},
                          {"retained", Into(window.retained, ReadAmount)},
                          {"growth", Into(window.growth, ReadAmount)},
                          {"allocated", Into(window.allocated, ReadAmount)},
                          {"peak", Into(window.peak_bytes, ReadBytesOnly)},
                          {"mapped", Into(window.mapped, ReadAmount)},
                          {"file_descriptors", Into(window.file_descriptors, ReadFileDescriptors)},
                          {"threads", Into(window.threads, ReadThreads)}},
                         kWindowExample);
  if (!read) return Unexpected(read.error());
  return window;
}

// Descriptors and threads are counted where tests begin and end.
Expected<WindowLimits> ReadOuterWindow(const LocatedValue& value, const JsonPlace& place) {
  for (const LocatedMember& member : value.members) {
    const bool is_of_tests = member.key == "file_descriptors" || member.key == "threads";
    if (!is_of_tests) continue;
    return place.Member(member.key)
        .ErrorAt(member, "is measured for tests only; move it to the limits of \"test\"");
  }
  return ReadWindow(value, place);
}

}  // namespace

Expected<ScopedLimits> ReadLimits(const LocatedValue& value, const JsonPlace& place) {
  ScopedLimits limits;
  const Expected<void> read =
      ReadNonEmptyObject(value, place,
                         {{"test", Into(limits.test, ReadWindow)},
                          {"suite", Into(limits.suite, ReadOuterWindow)},
                          {"program", Into(limits.program, ReadOuterWindow)},
                          {"process", Into(limits.process, ReadOuterWindow)}},
                         kLimitsExample);
  if (!read) return Unexpected(read.error());
  return limits;
}

Expected<ScopedLimits> ReadOverrideLimits(const LocatedValue& value, const JsonPlace& place) {
  for (const LocatedMember& member : value.members) {
    if (member.key != "program") continue;
    return place.Member(member.key)
        .ErrorAt(member,
                 "an override limits tests, suites and the processes that tests start; move it "
                 "to the \"limits\" of the file");
  }
  ScopedLimits limits;
  const Expected<void> read =
      ReadNonEmptyObject(value, place,
                         {{"test", Into(limits.test, ReadWindow)},
                          {"suite", Into(limits.suite, ReadOuterWindow)},
                          {"process", Into(limits.process, ReadOuterWindow)}},
                         kLimitsExample);
  if (!read) return Unexpected(read.error());
  return limits;
}

}  // namespace leakgate
