// CODEOWNERS files, as GitHub and GitLab read them: who owns which folders and files of a
// repository.
//
//   *                  @everyone
//   /src/net/          @team-net            the folder, at any depth
//   /src/disk/*.cc     @team-disk           files of the folder itself
//   docs/              @writers             every folder of that name
//
// The last line that matches counts. A line without owners means that nobody owns the file.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace leakgate {

struct FolderOwner {
  std::filesystem::path folder;  // that the line names, relative to the root; empty: none
  std::string owners;            // as they are written: "@team-net @alice"
};

class Codeowners {
 public:
  // Parses the text of a file. Lines that cannot be understood are skipped. Pure.
  [[nodiscard]] static Codeowners Parse(std::string_view text);

  // Returns who owns `file`, which is relative to the repository's root; nullopt if nobody does.
  [[nodiscard]] std::optional<FolderOwner> OwnerOf(const std::filesystem::path& file) const;

 private:
  struct Rule {
    std::string pattern;       // without the slashes at its ends
    bool is_anchored = false;  // at the root
    bool is_of_folders = false;
    std::string owners;
  };

  std::vector<Rule> rules_;
};

struct FoundCodeowners {
  std::filesystem::path root;  // of the repository
  Codeowners owners;
};

// Finds the file where GitHub and GitLab look for it (CODEOWNERS, .github, .gitlab, docs), in the
// first of `directory` and the folders above it that has one; nullopt if none has. Folders above
// that of a repository (.git) are not searched.
[[nodiscard]] std::optional<FoundCodeowners> FindCodeowners(const std::filesystem::path& directory);

}  // namespace leakgate
