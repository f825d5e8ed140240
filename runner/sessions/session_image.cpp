#include "runner/sessions/session_image.h"

#include <fmt/format.h>

#include <algorithm>

#include "runner/attribution/frame_origin.h"
#include "runner/budget/filter.h"
#include "runner/report/measurement_text.h"

namespace leakgate {
namespace {

std::string_view FileNameOf(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

bool MatchesFile(std::string_view glob, std::string_view path) {
  return MatchesGlob(glob, path) || MatchesGlob(glob, FileNameOf(path));
}

}  // namespace

Expected<ImageSelector> ParseImageSelector(std::string_view text) {
  const std::size_t colon = text.find(':');
  ImageSelector selector{std::string(text.substr(0, colon)), ""};
  if (colon != std::string_view::npos) selector.argument = text.substr(colon + 1);
  const bool is_cut = colon != std::string_view::npos && selector.argument.empty();
  if (!selector.image.empty() && !is_cut) return selector;
  return UsageError(
      fmt::format("--image '{}': not an image; write its file's name, and for a program that "
                  "another hosts an argument: --image redis-server, --image python3:server.py",
                  text));
}

std::string TextOf(const ImageSelector& selector) {
  return selector.argument.empty() ? selector.image : selector.image + ':' + selector.argument;
}

bool Selects(const ImageSelector& selector, const ExecutedProgram& program) {
  const bool has_arguments = !program.arguments.empty();
  const bool is_image = MatchesFile(selector.image, program.path) ||
                        (has_arguments && MatchesFile(selector.image, program.arguments[0]));
  if (!is_image || selector.argument.empty()) return is_image;
  return has_arguments && std::any_of(program.arguments.begin() + 1, program.arguments.end(),
                                      [&](const auto& argument) {
                                        return MatchesFile(selector.argument, argument);
                                      });
}

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
