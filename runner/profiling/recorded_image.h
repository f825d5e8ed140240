// One image of a program, its recorder, and the thread that answers its questions: tests in it go
// on without a verdict, and measure what they measure in any run.
#pragma once

#include <filesystem>
#include <memory>
#include <utility>

#include "runner/base/expected.h"
#include "runner/host/traced_image.h"
#include "runner/recording/event_recorder.h"

namespace leakgate {

class RecordedImage {
 public:
  // Creates a region for the image, with the events that `recording` asks for. `recording` needs to
  // tell neither the process nor its threads' names. `symbolizer` is used by the questions' thread
  // while the process runs.
  [[nodiscard]] static Expected<std::unique_ptr<RecordedImage>> Start(RegionOwner owner,
                                                                      RecorderSetup recording,
                                                                      Symbolizer& symbolizer);

  const TracedImage& traced() const { return image_; }
  const std::filesystem::path& path() const { return path_; }
  void NoteMovedTo(std::filesystem::path path) { path_ = std::move(path); }

  // REQUIRES: the process has ended, or executes another program.
  [[nodiscard]] Expected<RecordingClosing> Finish() {
    image_.StopAnswering();
    return recorder_->Finish();
  }

 private:
  RecordedImage(std::unique_ptr<RegionFile> region, std::filesystem::path path,
                Symbolizer& symbolizer);

  TracedImage image_;
  std::filesystem::path path_;
  std::unique_ptr<EventRecorder> recorder_;
};

}  // namespace leakgate
