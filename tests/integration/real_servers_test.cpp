// Servers of Debian's under load, traced while they run: nothing that they answer is another
// answer than without leakgate.
#include <gmock/gmock.h>
#include <unistd.h>

#include "tests/support/command.h"
#include "tests/support/leakgate_run.h"
#include "tests/support/public_copy.h"

namespace leakgate::test {
namespace {

using Json = nlohmann::json;

// The newest of Debian's PostgreSQL; empty if there is none.
std::string PostgresPrograms() {
  return RunCommand(
             {"sh", "-c",
              "for d in /usr/lib/postgresql/*/bin; do [ -x $d/initdb ] && command -v pgbench "
              ">/dev/null && printf %s $d && break; done; true"})
      .standard_output;
}

class RealServersTest : public testing::Test {
 protected:
  ~RealServersTest() override { Leakgate({"session", "stop", session_}); }

  CommandResult RunScript(const std::string& script, const std::string& programs = "") const {
    return RunCommand({"bash", "-c", script},
                      {.environment = {"LEAKGATE=" + copy_.Leakgate(), "SESSION=" + session_,
                                       "PROGRAMS=" + programs, "DIR=" + directory_.path()},
                       .directory = directory_.path()});
  }
  Json Queried() const { return Json::parse(ReadFile(directory_.File("query.json")))["processes"]; }

  const std::string session_ = "servers-" + std::to_string(::getpid());
  const PublicCopy copy_;  // for the server's user
  const TemporaryDirectory directory_;
};

// PostgreSQL refuses root. Its server forks a process for each client, and executes nothing:
// each is traced by its own PID. Those that are forked from a traced one are not.
TEST_F(RealServersTest, PostgresqlByPid) {
  const std::string programs = PostgresPrograms();
  if (programs.empty()) GTEST_SKIP() << "there is no postgresql with pgbench";
  const CommandResult run = RunScript(R"sh(
as() { "$@"; }
if [ "$(id -u)" = 0 ]; then
  chown 65534:65534 "$DIR"
  as() { setpriv --reuid=65534 --regid=65534 --clear-groups env HOME="$DIR" "$@"; }
fi
bench() { as pgbench -n -h "$DIR" -U bench "$@" postgres; }
as "$PROGRAMS/initdb" -D "$DIR/db" -U bench --no-sync -A trust > init.log 2>&1 || cat init.log
as "$PROGRAMS/postgres" -D "$DIR/db" -k "$DIR" -c listen_addresses= -c fsync=off > server.log 2>&1 &
for i in $(seq 300); do
  as "$PROGRAMS/pg_isready" -q -h "$DIR" -U bench -d postgres && break; sleep 0.1
done
server=$(head -1 db/postmaster.pid)
trap 'kill -INT $server 2>/dev/null' EXIT
bench -q -i -s 1 > /dev/null 2>&1
# A client that works until it is told that it was enough.
client() {
  until [ -e enough ]; do
    echo "BEGIN; UPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = $1; \
          SELECT sum(bbalance) FROM pgbench_branches; COMMIT;"
  done | as "$PROGRAMS/psql" -q -h "$DIR" -U bench -v ON_ERROR_STOP=1 postgres > client.$1 2>&1
}
client 1 & first=$!
client 2 & second=$!
until set -- $(pgrep -P $server -f 'bench postgres') && [ $# = 2 ]; do sleep 0.1; done
client=$2
{
  "$LEAKGATE" session start $SESSION --pid $client --stacks alloc,realloc,free && echo client
  "$LEAKGATE" snapshot take --pid $client -o one.snapshot --consistent && echo snapshot
  "$LEAKGATE" session update $SESSION --add-pid $server > /dev/null && echo server
  bench -C -c 2 -t 5 > clients.log 2>&1 && echo clients
  "$LEAKGATE" snapshot take --pid $client -o two.snapshot && echo snapshot
  "$LEAKGATE" session query $SESSION --json > query.json
  touch enough
  wait $first && wait $second && echo load
  "$LEAKGATE" session stop $SESSION && echo stopped
} 2> told.txt
grep -h 'failed transactions' clients.log
bench -t 20 2>&1 | grep 'actually processed'
kill -INT $server
wait
grep -E 'FATAL|PANIC|terminated by signal' server.log |
  grep -v -e 'the database system is starting up' -e 'due to administrator command'  # by this script
"$LEAKGATE" snapshot show two.snapshot --group-by freed-by > shown.txt && grep -c '^Freed by' shown.txt
)sh",
                                      programs);
  EXPECT_EQ(run.standard_output,
            "client\nsnapshot\nserver\nclients\nsnapshot\nload\nstopped\n"
            "number of failed transactions: 0 (0.000%)\n"
            "number of transactions actually processed: 20/20\n1\n")
      << run.standard_error << ReadFile(directory_.File("told.txt"));
  const Json processes = Queried();
  ASSERT_EQ(processes.size(), 2U);
  EXPECT_GT(processes[0]["allocated"]["blocks"], 100);
  for (const Json& process : processes) {
    EXPECT_EQ(process["state"], "tracing");
    EXPECT_EQ(process["drops"], 0);
  }
}

// With jemalloc, as a library. The package redis-tools has the server by another name.
constexpr const char* kRedis = R"sh(
redis() { redis-cli -s "$DIR/socket" "$@"; }
"$@" bash -c 'exec -a redis-server redis-check-rdb --port 0 --unixsocket "$DIR/socket" --save ""' \
  > server.log 2>&1 &
for i in $(seq 300); do redis ping 2>/dev/null | grep -q PONG && break; sleep 0.1; done
server=$(redis info server | tr -d '\r' | sed -n 's/^process_id://p')
trap 'kill $server 2>/dev/null' EXIT
load() { redis-benchmark -s "$DIR/socket" -q -t set,get,lpush,hset -n $1 -r 5000 -P 4 > load.log 2>&1; }
)sh";

TEST_F(RealServersTest, RedisByPid) {
  if (!HasProgram("redis-benchmark")) GTEST_SKIP() << "there is no redis (redis-tools)";
  const CommandResult run = RunScript(kRedis + std::string(R"sh(
(while [ ! -e enough ]; do load 5000 || exit 1; done) & load=$!
{
  "$LEAKGATE" session start $SESSION --pid $server && echo started
  for i in 1 2 3; do "$LEAKGATE" snapshot take --pid $server -o $i.snapshot && echo snapshot; done
  "$LEAKGATE" snapshot take --pid $server -o 4.snapshot --consistent && echo snapshot
  "$LEAKGATE" session query $SESSION --json > query.json
  "$LEAKGATE" session stop $SESSION && echo stopped
} 2> /dev/null
touch enough
wait $load && echo load
redis set key value
redis get key
redis shutdown nosave
wait; echo $?
)sh"));
  EXPECT_EQ(run.standard_output,
            "started\nsnapshot\nsnapshot\nsnapshot\nsnapshot\nstopped\nload\nOK\nvalue\n0\n")
      << run.standard_error;
  EXPECT_EQ(Queried()[0]["state"], "tracing");
  EXPECT_GT(Queried()[0]["allocated"]["blocks"], 100);
}

// It counts for itself what its allocator gave it: whole size classes.
TEST_F(RealServersTest, RedisByNameAgreesWithWhatItCounts) {
  if (!HasProgram("redis-benchmark")) GTEST_SKIP() << "there is no redis (redis-tools)";
  const CommandResult run = RunScript(
      R"sh("$LEAKGATE" session start $SESSION --image redis-server 2>/dev/null
set -- "$LEAKGATE" session exec $SESSION --
)sh" + std::string(kRedis) +
      R"sh(
load 20000 && echo load
redis info memory | tr -d '\r' | sed -n 's/^used_memory://p' > used
"$LEAKGATE" session query $SESSION --json > query.json
redis shutdown nosave
wait; echo $?
)sh");
  EXPECT_EQ(run.standard_output, "load\n0\n") << run.standard_error;
  const Json process = Queried()[0];
  EXPECT_EQ(process["drops"], 0);
  const double used = std::stod(ReadFile(directory_.File("used")));
  const double live = process["live"]["bytes"].get<double>();
  EXPECT_GT(used, 1e6);
  EXPECT_GT(live, 0.6 * used);
  EXPECT_LT(live, 1.2 * used);
}

}  // namespace
}  // namespace leakgate::test
