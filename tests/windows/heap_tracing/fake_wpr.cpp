// A fake of wpr.exe: writes its arguments into the file LEAKGATE_FAKE_WPR_LOG, and does what
// LEAKGATE_FAKE_WPR says at an argument: "-stop=fails", which leaves half a file, "-stop=nothing",
// "-start=fails". Else it succeeds, and -stop writes a file and a folder of symbols beside it.
//
// Without arguments it is a process to take a snapshot of: it tells its PID, and waits for input.
#include <process.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

std::string Variable(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}

}  // namespace

int wmain(int argc, wchar_t** argv) {
  std::vector<std::filesystem::path> arguments(argv + 1, argv + argc);
  if (arguments.empty()) {
    std::printf("%d\n", _getpid());
    std::fflush(stdout);
    return std::getchar() == EOF;
  }
  std::ofstream log(Variable("LEAKGATE_FAKE_WPR_LOG"), std::ios::app);
  for (const std::filesystem::path& argument : arguments) {
    const std::u8string text = argument.u8string();
    log << std::string(text.begin(), text.end()) << ' ';
  }
  log << '\n';
  arguments.resize(2);
  const std::string first = arguments[0].string();
  const std::filesystem::path& second = arguments[1];
  const std::string does = Variable("LEAKGATE_FAKE_WPR");
  if (does == first + "=fails") {
    if (first == "-stop") std::ofstream(second) << "half";
    std::puts("\r\n\tThere are no trace profiles running.\r\n\r\n\tError code: 0xc5583000\r\n");
    return static_cast<int>(0xc5583000);
  }
  if (first == "-stop" && does != "-stop=nothing") {
    std::ofstream(second) << "a whole recording";
    std::filesystem::create_directory(std::filesystem::path(second) += ".NGENPDB");
  }
  return 0;
}
