#include "runner/results/find_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "runner/base/path_text.h"
#include "runner/report/window_text.h"
#include "runner/results/result_file.h"
#include "runner/results/result_text.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

bool IsSameFile(const fs::path& a, const fs::path& b) {
  std::error_code unknown;
  return fs::equivalent(a, b, unknown) && !unknown;
}

bool IsAmong(const fs::path& path, const std::vector<fs::path>& paths) {
  return std::any_of(paths.begin(), paths.end(),
                     [&](const fs::path& other) { return IsSameFile(path, other); });
}

Expected<std::vector<fs::path>> JsonFilesBelow(const fs::path& directory) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code unknown;
    if (IsArchive(entry->path())) {
      LEAKGATE_TRY_ASSIGN(const std::vector<fs::path> members, JsonFilesIn(entry->path()));
      files.insert(files.end(), members.begin(), members.end());
    } else if (entry->path().extension() == ".json" && entry->is_regular_file(unknown)) {
      files.push_back(entry->path());
    }
  }
  if (error) {
    return UsageError(fmt::format("{}: cannot be read: {}; make it readable, or name its files",
                                  PathText(directory), error.message()));
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Adds the results in a directory or an archive.
Expected<void> AddAll(const fs::path& container, const std::vector<fs::path>& left_out,
                      FoundResults& found) {
  LEAKGATE_TRY_ASSIGN(const std::vector<fs::path> files,
                      IsArchive(container) ? JsonFilesIn(container) : JsonFilesBelow(container));
  std::vector<std::string> others;
  for (const fs::path& file : files) {
    if (IsAmong(file, left_out)) continue;
    LEAKGATE_TRY_ASSIGN(const ResultKind kind, KindOf(file));
    if (kind == ResultKind::kOther) {
      others.push_back(PathText(file));
    } else {
      found.files.push_back(file);
    }
  }
  if (!others.empty()) {
    found.warnings.push_back(fmt::format(
        "left out, for {} of leakgate's: {}",
        others.size() == 1 ? "it is no report" : "they are no reports", FirstNames(others)));
  }
  return {};
}

}  // namespace

Expected<FoundResults> FindResults(const std::vector<fs::path>& paths,
                                   const std::vector<fs::path>& left_out) {
  FoundResults found;
  for (const fs::path& path : paths) {
    std::error_code unknown;
    if (!fs::is_directory(path, unknown) && !IsArchive(path)) {
      found.files.push_back(path);
      continue;
    }
    LEAKGATE_TRY(AddAll(path, left_out, found));
  }
  std::sort(found.files.begin(), found.files.end());
  found.files.erase(std::unique(found.files.begin(), found.files.end()), found.files.end());
  return found;
}

}  // namespace leakgate
