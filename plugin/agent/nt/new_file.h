// A file that the program's own code asks for (leakgate::TakeSnapshot), which the agent writes with
// the process's own rights. It appears only when it is complete, in the place of another of its
// name. Until then it has a random name, by which the system removes it should the process end.
//
// May be used on any thread. Only ntdll's own functions are called, past all hooks.
#pragma once

#include <cstdint>
#include <string_view>

namespace leakgate::agent {

class NewFile {
 public:
  // Opens the file. `path` is UTF-8.
  explicit NewFile(const char* path);
  // Removes a file that has not been put in place.
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  // Why the last call failed: an NTSTATUS; 0 if nothing has failed.
  int error() const { return error_; }
  // Returns why the last call failed, as a constant text.
  [[nodiscard]] const char* WhyNot() const;
  static constexpr char kRemedy[] =
      "; make its directory writable with room for it, or name another file";

  [[nodiscard]] bool HasRoomFor(std::int64_t) { return error_ == 0; }
  [[nodiscard]] bool Write(std::string_view bytes);
  // Gives the file its name. Must be called once, as the last function.
  [[nodiscard]] bool PutInPlace();

 private:
  static constexpr std::uint32_t kMostLetters = 1024;

  [[nodiscard]] bool SplitPath(const char* path);
  // Keeps the error of a call's result.
  bool Check(long status);
  // The system removes the file when it is closed, or does not.
  bool SetRemoved(bool is_removed);

  int error_ = 0;
  void* file_ = nullptr;
  wchar_t path_[kMostLetters] = {};
  wchar_t temporary_[kMostLetters + 40] = {};
};

}  // namespace leakgate::agent
