#include "runner/profiling/recorded_image.h"

#include "runner/process/proc_files.h"
#include "runner/snapshot/file/describe_process.h"
#include "runner/snapshot/file/requested_snapshot.h"

namespace leakgate {

Expected<std::unique_ptr<RecordedImage>> RecordedImage::Start(RegionOwner owner,
                                                              RecorderSetup recording,
                                                              Symbolizer& symbolizer) {
  owner.events = recording.request;
  LEAKGATE_TRY_ASSIGN(auto region, RegionFile::Create(owner));
  std::unique_ptr<RecordedImage> image(
      new RecordedImage(std::move(region), recording.path, symbolizer));
  const TracedImage& traced = image->image_;
  const int pid = traced.pid();
  recording.process = DescribeProcess(traced.region(), pid, traced.program());
  recording.thread_name = [pid](int tid) { return NameOfThread(pid, tid); };
  LEAKGATE_TRY_ASSIGN(std::unique_ptr<EventBuffers> buffers,
                      EventBuffers::Attach(image->image_.region_file().fd()));
  LEAKGATE_TRY_ASSIGN(image->recorder_, EventRecorder::Start(traced.region(), std::move(buffers),
                                                             std::move(recording)));
  return image;
}

RecordedImage::RecordedImage(std::unique_ptr<RegionFile> region, std::filesystem::path path,
                             Symbolizer& symbolizer)
    : image_({.region = std::move(region),
              .symbolizer = symbolizer,
              .profiler = AnswerSnapshotRequests}),
      path_(std::move(path)) {}

}  // namespace leakgate
