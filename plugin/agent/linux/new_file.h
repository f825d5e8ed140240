// A file that the program's own code asks for (leakgate::TakeSnapshot). The agent writes it,
// so the rights, the working directory and the root are the process's own, and the runner's
// are of no use to the program.
//
// It is readable by its owner alone, and is there only when all of it is: until then it has
// no name, or a random one where the file system or a missing /proc does not allow that. A
// regular file of the same name is replaced; a link is followed, and the regular file that it
// leads to is overwritten.
//
// Any thread. System calls only.
#pragma once

#include <climits>
#include <cstdint>
#include <string_view>

namespace leakgate::agent {

class NewFile {
 public:
  // error(): the path leads to what is there and is no regular file.
  static constexpr int kNotRegular = -1;

  // Opens it. `path` outlives it.
  explicit NewFile(const char* path);
  // What was not put in place is gone.
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  // Why the last call failed, as errno has it, or kNotRegular; 0: nothing has.
  int error() const { return error_; }

  // False where the process may not write a file of so many bytes: to try would end it by
  // SIGXFSZ.
  [[nodiscard]] bool HasRoomFor(std::int64_t bytes);
  [[nodiscard]] bool Write(std::string_view bytes);
  // From now on it has its name. Call once, last.
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
  int directory_ = kNone;  // of the name, which it is given there
  const char* name_ = nullptr;
  bool is_in_place_ = false;  // opened by its own name
  bool is_named_ = false;     // by `temporary_`
  char temporary_[40] = {};
  char parent_[PATH_MAX] = {};
};

}  // namespace leakgate::agent
