#include "runner/named_session/traced_image.h"

#include "runner/attribution/frame_origin.h"
#include "runner/session/linux/process_image.h"

namespace leakgate {

TracedImage::TracedImage(std::unique_ptr<RegionFile> region, ExecutedProgram program)
    : region_(std::move(region)),
      symbolizer_(IsRuntimeModule),
      code_calls_(region_->reader(), symbolizer_),
      program_(std::move(program)),
      end_(WatchEnd(region_->pid())),
      answers_(std::make_unique<MailboxServer>(region_->mailbox(),
                                               [this](Mailbox& mailbox) { Answer(mailbox); })) {}

void TracedImage::Answer(Mailbox& mailbox) {
  AnswerNothing(mailbox);
  code_calls_.Answer(mailbox);
}

Expected<std::unique_ptr<TracedImage>> TracedImage::Trace(RegionOwner owner,
                                                          ExecutedProgram program) {
  // GoogleTest's stream of events is the program's own here; the listener tells of tests.
  owner.boundaries = BoundarySource::kListener;
  auto region = RegionFile::Create(owner);
  if (!region) return Unexpected(region.error());
  return std::unique_ptr<TracedImage>(new TracedImage(*std::move(region), std::move(program)));
}

bool TracedImage::IsOver() const { return is_replaced_ || HasEnded(end_); }

}  // namespace leakgate
