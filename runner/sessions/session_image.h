// Which programs a session traces by name: `--image NAME[:SELECTOR]`. Pure.
//
//   redis-server          every process of that image
//   python3:server.py     where an argument is server.py, or ends in /server.py
//   /opt/app/bin/*        by the whole path, once there is a slash
//   *                     every program
//
// SELECTOR tells programs apart that one program hosts: an interpreter, an emulator.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "runner/base/expected.h"
#include "runner/host/mailbox_server.h"
#include "runner/host/requested_snapshot.h"
#include "runner/host/traced_image.h"
#include "runner/judge/window_meter.h"
#include "runner/process/process_image.h"
#include "runner/symbols/symbolizer.h"

namespace leakgate {

// Both are globs of '*' and '?'.
struct ImageSelector {
  std::string image;
  std::string argument;  // empty: any

  bool operator==(const ImageSelector&) const = default;
};

// A usage error says what is wrong with `text`.
[[nodiscard]] Expected<ImageSelector> ParseImageSelector(std::string_view text);

// As it was written.
[[nodiscard]] std::string TextOf(const ImageSelector& selector);

// The image's name is the file's, or that by which it was executed: python3 is a link.
[[nodiscard]] bool Selects(const ImageSelector& selector, const ExecutedProgram& program);

// One program that a session traces, and the thread that answers what its agent asks: tests in
// it go on without a verdict, and the program's own code is told what it measures.

class SessionImage {
 public:
  // `owner` is the region's, all but where boundaries come from: it executes `program` now.
  [[nodiscard]] static Expected<std::unique_ptr<SessionImage>> Trace(RegionOwner owner,
                                                                     ExecutedProgram program);

  int pid() const { return image_.pid(); }
  const ExecutedProgram& program() const { return image_.program(); }
  std::chrono::system_clock::time_point begin() const { return image_.begin(); }
  const RegionReader& region() const { return image_.region(); }
  int region_fd() const { return image_.region_fd(); }
  [[nodiscard]] UniqueFd DuplicateRegion() const { return image_.DuplicateRegion(); }

  // Whether the process has ended, or executes another program.
  [[nodiscard]] bool IsOver() const { return is_replaced_ || image_.HasEnded(); }
  // Another image of the process is traced.
  void NoteReplaced() { is_replaced_ = true; }
  // REQUIRES: IsOver, so that nobody asks any more.
  void StopAnswering() { answers_->Stop(); }

 private:
  SessionImage(std::unique_ptr<RegionFile> region, ExecutedProgram program);

  void Answer(Mailbox& mailbox);

  TracedImage image_;
  Symbolizer symbolizer_;
  WindowMeter meter_;
  RequestedSnapshot snapshots_;
  bool is_replaced_ = false;
  std::unique_ptr<MailboxServer> answers_;  // last: it uses the others
};

}  // namespace leakgate
