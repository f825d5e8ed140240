// One image of a program, its recorder, and the thread that answers its questions: tests in it go
// on without a verdict, and measure what they measure in any run.
#pragma once

#include <filesystem>
#include <memory>
#include <utility>

#include "runner/base/expected.h"
#include "runner/host/mailbox_server.h"
#include "runner/host/traced_image.h"
#include "runner/judge/window_meter.h"
#include "runner/recording/event_recorder.h"

namespace leakgate {

class RecordedImage {
 public:
  // `symbolizer` is used by the questions' thread while the process runs.
  [[nodiscard]] static Expected<std::unique_ptr<RecordedImage>> Start(
      std::unique_ptr<RegionFile> region, RecorderSetup setup, Symbolizer& symbolizer);

  const TracedImage& traced() const { return image_; }
  const std::filesystem::path& path() const { return path_; }
  void NoteMovedTo(std::filesystem::path path) { path_ = std::move(path); }

  // REQUIRES: the process has ended, or executes another program.
  [[nodiscard]] Expected<RecordingClosing> Finish() {
    answers_.Stop();
    return recorder_->Finish();
  }

 private:
  RecordedImage(std::unique_ptr<RegionFile> region, std::filesystem::path path,
                Symbolizer& symbolizer);
  void Answer(Mailbox& mailbox);

  TracedImage image_;
  std::filesystem::path path_;
  WindowMeter meter_;
  const AnswerMore answer_more_;
  std::unique_ptr<EventRecorder> recorder_;
  MailboxServer answers_;  // the last member, because it uses the others
};

}  // namespace leakgate
