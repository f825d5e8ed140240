#include "runner/sessions/session_image.h"

#include "runner/attribution/frame_origin.h"
#include "runner/report/measurement_text.h"

namespace leakgate {

SessionImage::SessionImage(std::unique_ptr<RegionFile> region, ExecutedProgram program)
    : image_(std::move(region), std::move(program)),
      symbolizer_(IsRuntimeModule),
      meter_(image_.region(), symbolizer_, MeasurementTextHere),
      snapshots_(image_.region()),
      answers_(std::make_unique<MailboxServer>(image_.region_file().mailbox(),
                                               [this](Mailbox& mailbox) { Answer(mailbox); })) {}

void SessionImage::Answer(Mailbox& mailbox) {
  AnswerNothing(mailbox);
  if (!meter_.Answer(mailbox)) (void)snapshots_.Answer(mailbox);
}

Expected<std::unique_ptr<SessionImage>> SessionImage::Trace(RegionOwner owner,
                                                            ExecutedProgram program) {
  // GoogleTest's stream of events is the program's own here; the listener tells of tests.
  owner.boundaries = BoundarySource::kListener;
  auto region = RegionFile::Create(owner);
  if (!region) return Unexpected(region.error());
  return std::unique_ptr<SessionImage>(new SessionImage(*std::move(region), std::move(program)));
}

}  // namespace leakgate
