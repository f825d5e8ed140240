#include "runner/session/linux/snapshot_on_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <system_error>

#include "runner/snapshot_file/linux/describe_process.h"
#include "runner/snapshot_file/write_snapshot.h"
#include "runner/util/linux/process_status.h"

namespace leakgate {

namespace fs = std::filesystem;

namespace {

fs::path LinkOf(const std::string& of, const char* name) {
  std::error_code unknown;
  return fs::read_symlink(fmt::format("/proc/{}/{}", of, name), unknown);
}

// By its name where that means the same here; else by the kernel's own way to it.
fs::path DirectoryOf(int pid, const char* name) {
  const std::string process = std::to_string(pid);
  const fs::path directory = LinkOf(process, name);
  const bool is_same_mounts = LinkOf(process, "ns/mnt") == LinkOf("self", "ns/mnt");
  std::error_code unknown;
  if (is_same_mounts && fs::is_directory(directory, unknown)) return directory;
  return fmt::format("/proc/{}/{}", pid, name);
}

std::string OccasionOf(const RegionReader& region) {
  const WindowCopy window = region.Window(region.CurrentWindow());
  const std::string call = "leakgate::TakeSnapshot";
  return window.name.empty() ? call : fmt::format("{} in {}", call, window.name);
}

Expected<SnapshotClosing> Take(const RegionReader& region, int pid, const fs::path& path) {
  SnapshotRequest request{DescribeProcess(region),
                          [pid](int tid) { return NameOfThread(pid, tid); }};
  request.facts.occasion = OccasionOf(region);
  return WriteSnapshot(region, request, PathInProcess(pid, path));
}

}  // namespace

fs::path PathInProcess(int pid, const fs::path& path) {
  if (path.is_relative()) return DirectoryOf(pid, "cwd") / path;
  // Normal: ".." leads nowhere from the root.
  return DirectoryOf(pid, "root") / path.lexically_normal().relative_path();
}

void AnswerSnapshot(const RegionReader& region, Mailbox& mailbox) {
  const std::size_t length = std::min(mailbox.subject, Mailbox::kFileCapacity);
  const std::string path(mailbox.file, length);
  const auto taken = Take(region, region.Pid(), path);
  mailbox.bytes = 0;  // answered
  if (taken) return;
  mailbox.text_length =
      static_cast<std::uint32_t>(taken.error().message.copy(mailbox.text, Mailbox::kTextCapacity));
}

}  // namespace leakgate
