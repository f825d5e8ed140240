#include "runner/symbols/nt/opened_pe.h"

#include <utility>

namespace leakgate {

OpenedPe::OpenedPe(std::unique_ptr<PeFile> file, std::string path, DebugSource source,
                   std::vector<std::filesystem::path> directories)
    : file_(std::move(file)),
      path_(std::move(path)),
      source_(source),
      directories_(std::move(directories)),
      symbols_(*file_) {}

std::unique_ptr<OpenedPe> OpenedPe::Open(const std::string& path, DebugSource source,
                                         std::vector<std::filesystem::path> directories) {
  std::unique_ptr<PeFile> file = PeFile::Open(path);
  if (file == nullptr) return nullptr;
  return std::unique_ptr<OpenedPe>(
      new OpenedPe(std::move(file), path, source, std::move(directories)));
}

DwarfReader* OpenedPe::dwarf() {
  // libdwarf is not proof against damaged files.
  const bool is_first = !std::exchange(has_opened_dwarf_, true);
  if (is_first && !file_->IsDamaged()) dwarf_ = DwarfReader::Open(*file_);
  return dwarf_.get();
}

PdbReader* OpenedPe::pdb() {
  const bool is_sought = source_ == DebugSource::kAnyFile && file_->HasPdb();
  if (is_sought && !std::exchange(has_opened_pdb_, true)) {
    pdb_ = PdbReader::Open(path_, directories_);
  }
  return pdb_.get();
}

bool OpenedPe::IsWhole() {
  return source_ == DebugSource::kOwnFile || dwarf() != nullptr || !file_->HasPdb() ||
         pdb() != nullptr;
}

}  // namespace leakgate
