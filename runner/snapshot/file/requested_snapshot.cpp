#include "runner/snapshot/file/requested_snapshot.h"

#include <fmt/format.h>

#include <memory>
#include <new>
#include <string_view>
#include <utility>

#include "runner/process/proc_files.h"
#include "runner/snapshot/file/describe_process.h"
#include "runner/snapshot/file/write_snapshot.h"

namespace leakgate {
namespace {

std::string OccasionOf(const RegionReader& region) {
  const WindowCopy window = region.Window(region.CurrentWindow());
  const std::string call = "leakgate::TakeSnapshot";
  return window.name.empty() ? call : fmt::format("{} in {}", call, window.name);
}

Expected<std::string> TextOf(const RegionReader& region) {
  const int pid = region.Pid();
  SnapshotRequest request{DescribeProcess(region, pid, ExecutedProgramOf(pid)),
                          [pid](int tid) { return NameOfThread(pid, tid); }};
  request.facts.occasion = OccasionOf(region);
  try {
    return SnapshotText(region, request);
  } catch (const std::bad_alloc&) {
    return InconclusiveError(
        "cannot take the snapshot: leakgate has no memory for it; free some, or raise its limit "
        "(ulimit -v)");
  }
}

}  // namespace

bool RequestedSnapshot::Answer(Mailbox& mailbox) {
  const auto question = static_cast<Question>(mailbox.question);
  if (question == Question::kTakeSnapshot) {
    Take(mailbox);
  } else if (question == Question::kReadSnapshot) {
    Read(mailbox);
  } else {
    return false;
  }
  return true;
}

void RequestedSnapshot::Take(Mailbox& mailbox) {
  text_.clear();
  Expected<std::string> taken = TextOf(region_);
  if (taken) {
    text_ = *std::move(taken);
    mailbox.bytes = static_cast<std::int64_t>(text_.size());
    return;
  }
  mailbox.text_length =
      static_cast<std::uint32_t>(taken.error().message.copy(mailbox.text, Mailbox::kTextCapacity));
}

void RequestedSnapshot::Read(Mailbox& mailbox) {
  const std::size_t begin = std::size_t{mailbox.subject} * Mailbox::kTextCapacity;
  if (begin >= text_.size()) return;
  const std::string_view part =
      std::string_view(text_).substr(begin, std::size_t{Mailbox::kTextCapacity});
  part.copy(mailbox.text, part.size());
  mailbox.text_length = static_cast<std::uint32_t>(part.size());
  mailbox.bytes = 0;  // answered
  if (begin + part.size() == text_.size()) text_ = std::string();
}

std::function<bool(Mailbox& mailbox)> AnswerSnapshotRequests(const RegionReader& region) {
  const auto requested = std::make_shared<RequestedSnapshot>(region);
  return [requested](Mailbox& mailbox) { return requested->Answer(mailbox); };
}

}  // namespace leakgate
