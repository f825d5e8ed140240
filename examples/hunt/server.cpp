// A server that answers what is written into a FIFO, a request a line: `server REQUESTS`.
// It has a leak, which docs/snapshots.md hunts down while it runs.
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <unordered_map>

namespace shop {

// What a user has done so far.
struct Session {
  std::string history;
};

class Sessions {
 public:
  Session& Of(const std::string& user) {
    std::unique_ptr<Session>& session = sessions_[user];
    if (session == nullptr) session = Open();
    return *session;
  }
  void Close(const std::string& user) { sessions_.erase(user); }

 private:
  static std::unique_ptr<Session> Open() {
    auto session = std::make_unique<Session>();
    session->history.reserve(1000);
    return session;
  }

  std::unordered_map<std::string, std::unique_ptr<Session>> sessions_;
};

// Users that sign out are forgotten; those who just go away never are.
void Serve(Sessions& sessions, const std::string& user, const std::string& what) {
  if (what == "bye") return sessions.Close(user);
  sessions.Of(user).history += what + ' ';
}

}  // namespace shop

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: server REQUESTS\n");
    return 2;
  }
  shop::Sessions sessions;
  std::fstream requests(argv[1]);  // for writing, too: it does not end with its first writer
  for (std::string user, what; requests >> user >> what;) shop::Serve(sessions, user, what);
}
