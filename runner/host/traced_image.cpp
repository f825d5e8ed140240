#include "runner/host/traced_image.h"

#include <utility>

#include "runner/report/left_behind_text.h"

namespace leakgate {

TracedImage::TracedImage(ImageTracing tracing)
    : region_(std::move(tracing.region)),
      program_(tracing.program ? *std::move(tracing.program) : ExecutedProgramOf(pid())),
      end_(tracing.watches_end == WatchesEnd::kYes ? WatchEnd(pid()) : UniqueFd()),
      meter_(region(), tracing.symbolizer, MeasurementTextHere),
      profiler_(AnswererFor(tracing.profiler, region())),
      server_(
          region_->mailbox(), tracing.answer
                                  ? std::move(tracing.answer)
                                  : [this](Mailbox& mailbox) { (void)AnswerCommon(mailbox); }) {}

bool TracedImage::AnswerCommon(Mailbox& mailbox) {
  AnswerWithinBudget(mailbox);
  return meter_.Answer(mailbox) || profiler_(mailbox);
}

bool TracedImage::HasEnded() const { return leakgate::HasEnded(end_); }

ProcessRegion TracedImage::Describe(ImageLife life) const {
  return {StatusOf(*this, life), DuplicateRegion()};
}

ProcessStatus StatusOf(const TracedImage& image, ImageLife life) {
  ProcessStatus status = StatusOf(image.region(), life);
  status.pid = image.pid();
  status.program = image.program();
  return status;
}

}  // namespace leakgate
