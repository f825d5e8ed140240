#include "runner/cli/profiler/session_unit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <system_error>

#include "runner/base/atomic_file.h"
#include "runner/base/path_text.h"
#include "runner/cli/option_values.h"
#include "runner/cli/profiler/session.h"
#include "runner/cli/profiler/session_values.h"
#include "runner/cli/terminal.h"
#include "runner/host/named_sockets.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSystemPlace = "/etc/systemd/system";
constexpr std::string_view kStatePlace = "/var/lib";
constexpr std::string_view kContainerPlace = "/var/lib/leakgate";

// A word of a unit's command line: systemd takes % and $ for its own.
std::string UnitWord(std::string_view text) {
  std::string word;
  for (const char c : text) {
    if (c == '%' || c == '$') word += c;
    if (c == '"' || c == '\\') word += '\\';
    word += c;
  }
  const bool is_plain = !word.empty() && word.find_first_of(" \t\"\\';") == std::string::npos;
  return is_plain ? word : fmt::format("\"{}\"", word);
}

// Text of a unit that is no command line. A backslash at the end of its line would have the next
// one go on in it.
std::string UnitText(std::string_view text) {
  std::string plain;
  for (const char c : text) plain += c == '%' ? "%%" : std::string(1, c);
  return plain;
}

std::string ShellWord(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:=@%,";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(text);
  }
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + '\'';
}

bool HasControl(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
}

template <typename Quote>
std::string Line(const std::vector<std::string>& words, const Quote& quote) {
  std::vector<std::string> quoted;
  for (const std::string& word : words) quoted.push_back(quote(word));
  return fmt::format("{}", fmt::join(quoted, " "));
}

std::string TimeWord(std::chrono::milliseconds time) {
  constexpr std::chrono::milliseconds kMinute = std::chrono::minutes(1);
  if (time % kMinute == time.zero()) return fmt::format("{}min", time / kMinute);
  return fmt::format("{}ms", time.count());
}

// Whether the ring has bounds of its own or not, those of a unit are written down.
std::vector<std::string> RingWords(const GivenRing& ring, const fs::path& otherwise) {
  using std::chrono::minutes;
  constexpr std::uint64_t kFiles = 48;
  constexpr std::uint64_t kBytes = std::uint64_t{1} << 30;
  return {"--snapshots",  PathText(ring.directory.empty() ? otherwise : ring.directory),
          "--every",      TimeWord(ring.every.value_or(minutes(10))),
          "--keep",       std::to_string(ring.most_files.value_or(kFiles)),
          "--keep-bytes", std::to_string(ring.most_bytes.value_or(kBytes))};
}

std::vector<std::string> StartWords(const SessionUnitCommand& command, const fs::path& leakgate,
                                    const fs::path& directory) {
  std::vector<std::string> words = {PathText(leakgate), "session", "start", command.name};
  for (const ImageSelector& image : command.images) {
    words.insert(words.end(), {"--image", TextOf(image)});
  }
  if (command.place == UnitPlace::kSystemd) words.emplace_back("--system");
  const std::vector<std::string> ring = RingWords(command.ring, directory);
  words.insert(words.end(), ring.begin(), ring.end());
  return words;
}

std::string UnitName(const SessionUnitCommand& command) {
  return fmt::format("leakgate-{}.service", command.name);
}

// As systemctl has it: a name without an ending is a service's.
std::string ServiceName(const std::string& service) {
  return service.find('.') == std::string::npos ? service + ".service" : service;
}

Expected<void> CheckService(const std::string& service) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:-_.\\@";
  const bool is_allowed = service.find_first_not_of(kAllowed) == std::string::npos;
  if (is_allowed && ServiceName(service).ends_with(".service") && service.front() != '.') return {};
  return UsageError(fmt::format(
      "--service '{}': not the name of a service's unit; systemctl list-units tells them",
      service));
}

Expected<int> WriteFiles(const SessionUnitCommand& command, const std::vector<UnitFile>& files) {
  for (const UnitFile& file : files) {
    const fs::path path = command.directory / file.path;
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (error) {
      return UsageError(fmt::format("-o {}: no directory can be made there: {}; name another",
                                    PathText(path.parent_path()), error.message()));
    }
    LEAKGATE_TRY(WriteFileAtomically(path, file.text));
    Print(stderr, fmt::format("leakgate: wrote {}\n", Printable(PathText(path))));
  }
  return kExitPass;
}

Expected<fs::path> OwnPath() {
  std::error_code error;
  fs::path path = fs::read_symlink("/proc/self/exe", error);
  if (error) return InconclusiveError("cannot find out where leakgate is; is /proc mounted?");
  if (HasControl(PathText(path))) {
    return UsageError(
        fmt::format("{}: leakgate's own path has a line break or the like, which can stand in no "
                    "unit; install it elsewhere",
                    PathText(path)));
  }
  return path;
}

}  // namespace

void Declare(SessionUnitCommand& command, OptionList& options) {
  const auto set_name = [&command](const std::string& text) -> Expected<void> {
    if (!command.name.empty())
      return UsageError("name one session; see leakgate session unit --help");
    command.name = text;
    return CheckSessionName(text);
  };
  options.AddEach("name", TextWord("NAME"), set_name, "");
  options.Add("--image", TextWord("IMAGE[:ARGUMENT]"), command.images, ParseImage,
              "As of leakgate session start. Repeatable");
  options.Add("--service", TextWord("SERVICE"), command.service,
              "The service that the session is to begin before: also print a drop-in for it");
  options.AddFlag("--container", command.place, UnitPlace::kContainer,
                  "Print the entrypoint of a container, a shell script, instead");
  DeclareRing(command.ring, options);
  options.Add("-o,--output", FileWord("DIR"), command.directory,
              "Write the files into DIR, such as /etc/systemd/system, instead of printing them");
}

Expected<void> Complete(SessionUnitCommand& command, const ProgramLine& program) {
  if (!program.empty()) {
    return UsageError("leakgate session unit runs no program; leave out what follows --");
  }
  if (command.name.empty() || command.images.empty()) {
    return UsageError(
        "name a session and what it is to trace: leakgate session unit web --image nginx --service "
        "nginx");
  }
  for (const ImageSelector& image : command.images) {
    if (HasControl(TextOf(image))) {
      return UsageError("--image: a name with a line break or the like can stand in no unit");
    }
  }
  if (HasControl(PathText(command.ring.directory))) {
    return UsageError("--snapshots: a path with a line break or the like can stand in no unit");
  }
  if (!command.ring.directory.empty() && command.ring.directory.is_relative()) {
    return UsageError(
        fmt::format("--snapshots {}: write the whole path, for the unit has no "
                    "directory of its own",
                    PathText(command.ring.directory)));
  }
  if (command.place == UnitPlace::kContainer && !command.service.empty()) {
    return UsageError("--service is for systemd, not for --container; leave one of them out");
  }
  return command.service.empty() ? Expected<void>{} : CheckService(command.service);
}

std::vector<UnitFile> UnitFilesOf(const SessionUnitCommand& command, const fs::path& leakgate) {
  const fs::path state = fs::path("leakgate") / command.name;
  const std::string unit = UnitName(command);
  std::vector<std::string> images;
  for (const ImageSelector& image : command.images) images.push_back(TextOf(image));
  std::string text = fmt::format(
      "[Unit]\n"
      "Description=leakgate traces {} in the session {}\n"
      "Documentation=man:leakgate-session-start(1)\n",
      UnitText(fmt::format("{}", fmt::join(images, ", "))), command.name);
  if (!command.service.empty()) {
    text += fmt::format("Before={}\n", ServiceName(command.service));
  }
  // The command ends when the session serves: then systemd goes on to the service.
  text += fmt::format(
      "\n[Service]\n"
      "Type=forking\n"
      "ExecStart={}\n"
      "ExecStop={}\n",
      Line(StartWords(command, leakgate, fs::path(kStatePlace) / state), UnitWord),
      Line({PathText(leakgate), "session", "stop", command.name}, UnitWord));
  if (command.ring.directory.empty()) {
    text += fmt::format("StateDirectory={}\nStateDirectoryMode=0700\n", PathText(state));
  }
  text += "\n[Install]\nWantedBy=multi-user.target\n";
  std::vector<UnitFile> files = {{unit, std::move(text)}};
  if (!command.service.empty()) {
    files.push_back({fs::path(ServiceName(command.service) + ".d") / "leakgate.conf",
                     fmt::format("[Unit]\nWants={0}\nAfter={0}\n", unit)});
  }
  return files;
}

std::string EntrypointOf(const SessionUnitCommand& command, const fs::path& leakgate) {
  return fmt::format(
      "#!/bin/sh\n"
      "# The container's entrypoint, in front of its own command:\n"
      "#   COPY leakgate-entrypoint /leakgate-entrypoint\n"
      "#   ENTRYPOINT [\"/leakgate-entrypoint\"]\n"
      "#   CMD [\"/usr/sbin/nginx\", \"-g\", \"daemon off;\"]\n"
      "# Mount a volume at the place of the snapshots, to have them when the container has gone.\n"
      "{} || exec \"$@\"\n"
      "exec {} -- \"$@\"\n",
      Line(StartWords(command, leakgate, fs::path(kContainerPlace) / command.name), ShellWord),
      Line({PathText(leakgate), "session", "exec", command.name}, ShellWord));
}

Expected<int> Execute(const SessionUnitCommand& command) {
  LEAKGATE_TRY_ASSIGN(const fs::path leakgate, OwnPath());
  const bool is_container = command.place == UnitPlace::kContainer;
  const std::vector<UnitFile> files =
      is_container ? std::vector<UnitFile>{{"leakgate-entrypoint", EntrypointOf(command, leakgate)}}
                   : UnitFilesOf(command, leakgate);
  if (!command.directory.empty()) return WriteFiles(command, files);
  for (const UnitFile& file : files) {
    const std::string place =
        is_container ? "" : fmt::format("# {}\n", PathText(fs::path(kSystemPlace) / file.path));
    const bool is_last = &file == &files.back();
    Print(stdout, place + file.text + (is_last ? "" : "\n"));
  }
  return kExitPass;
}

}  // namespace leakgate
