#include "runner/profiling/recorded_image.h"

#include "runner/report/left_behind_text.h"
#include "runner/snapshot/file/requested_snapshot.h"

namespace leakgate {

Expected<std::unique_ptr<RecordedImage>> RecordedImage::Start(std::unique_ptr<RegionFile> region,
                                                              RecorderSetup setup,
                                                              Symbolizer& symbolizer) {
  std::unique_ptr<RecordedImage> image(
      new RecordedImage(std::move(region), setup.path, symbolizer));
  LEAKGATE_TRY_ASSIGN(std::unique_ptr<EventBuffers> buffers,
                      EventBuffers::Attach(image->image_.region_file().fd()));
  LEAKGATE_TRY_ASSIGN(auto recorder, EventRecorder::Start(image->image_.region(),
                                                          std::move(buffers), std::move(setup)));
  image->recorder_ = std::move(recorder);
  return image;
}

RecordedImage::RecordedImage(std::unique_ptr<RegionFile> region, std::filesystem::path path,
                             Symbolizer& symbolizer)
    : image_(std::move(region)),
      path_(std::move(path)),
      meter_(image_.region(), symbolizer, MeasurementTextHere),
      answer_more_(AnswerSnapshotRequests(image_.region())),
      answers_(image_.region_file().mailbox(), [this](Mailbox& mailbox) { Answer(mailbox); }) {}

void RecordedImage::Answer(Mailbox& mailbox) {
  AnswerWithinBudget(mailbox);
  if (!meter_.Answer(mailbox)) (void)answer_more_(mailbox);
}

}  // namespace leakgate
