// A file that the program's own code asks for (leakgate::TakeSnapshot).
//
// The agent writes it, so that the process's own rights, working directory and root apply, and the
// program cannot use the runner's.
//
// Only its owner can read it, and it appears only when it is complete. Until then it has no name,
// or a random one where the file system or a missing /proc does not allow that. A regular file of
// the same name is replaced. A link is followed, and the regular file that it leads to is
// overwritten.
//
// May be used on any thread. Makes system calls only.
#pragma once

#include <climits>
#include <cstdint>
#include <string_view>

namespace leakgate::agent {

class NewFile {
 public:
  // A value of error(): the path leads to something that is no regular file.
  static constexpr int kNotRegular = -1;

  // Opens the file. `path` must outlive this.
  explicit NewFile(const char* path);
  // Removes a file that has not been put in place.
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  // Why the last call failed: a value of errno, or kNotRegular; 0 if nothing has failed.
  int error() const { return error_; }

  // Returns why the last call failed, as a constant text.
  [[nodiscard]] const char* WhyNot() const;
  static constexpr char kRemedy[] =
      "; make its directory writable with room for it, or name another file";

  // Returns whether the process may write a file of so many bytes. If it may not, trying would end
  // it by SIGXFSZ.
  [[nodiscard]] bool HasRoomFor(std::int64_t bytes);
  [[nodiscard]] bool Write(std::string_view bytes);
  // Gives the file its name. Must be called once, as the last function.
  [[nodiscard]] bool PutInPlace();

 private:
  static constexpr int kNone = -1;

  void Open(const char* path);
  void OpenBehindLink(const char* path);
  void OpenInDirectory();
  void ChooseTemporaryName();
  bool IsRegular();
  bool SplitPath(const char* path);
  // Keeps the error of a system call's result.
  bool Check(long result);

  int error_ = 0;
  int file_ = kNone;
  int directory_ = kNone;  // the directory in which the file gets its name
  const char* name_ = nullptr;
  bool is_in_place_ = false;  // the existing file was opened by its name
  bool is_named_ = false;     // it has the name `temporary_`
  char temporary_[40] = {};
  char parent_[PATH_MAX] = {};
};

}  // namespace leakgate::agent
