/* The agent, as code in the test process sees it: plain C, found at run time.
 *
 * The agent is preloaded by `leakgate run`. Without it leakgate_agent() is not
 * there, and dlsym finds nothing: nobody links against it. */
#ifndef LEAKGATE_AGENT_H_
#define LEAKGATE_AGENT_H_

#ifdef __cplusplus
extern "C" {
#endif

/* What there is in all, and from which version on. Ask for no newer one than you need: an
 * agent may be older than this header. */
#define LEAKGATE_AGENT_VERSION 3u
#define LEAKGATE_AGENT_WITH_WINDOWS 1u
#define LEAKGATE_AGENT_WITH_ALLOWANCES 2u
#define LEAKGATE_AGENT_WITH_MEASURING 3u
#define LEAKGATE_AGENT_SYMBOL "leakgate_agent"

enum { LEAKGATE_WINDOW_SUITE = 2, LEAKGATE_WINDOW_TEST = 3 };

enum {
  LEAKGATE_RESULT_UNKNOWN = 0,
  LEAKGATE_RESULT_PASSED = 1,
  LEAKGATE_RESULT_FAILED = 2,
  LEAKGATE_RESULT_SKIPPED = 3
};

typedef struct LeakgateWindow {
  unsigned kind;
  const char* name; /* "Suite.Test", or "Suite" */
  const char* file; /* of the test's definition; may be null */
  unsigned line;
  unsigned iteration; /* of --gtest_repeat, from 1 */
} LeakgateWindow;

/* Valid until the next call. The strings are not terminated. */
typedef struct LeakgateVerdict {
  int is_over_budget;
  unsigned line; /* where to report it */
  const char* file;
  unsigned file_length;
  const char* text;
  unsigned text_length;
} LeakgateVerdict;

/* Permission to leave blocks, with its reason. */
typedef struct LeakgateAllowance {
  const char* reason;
  const char* file; /* where in the code; may be null */
  unsigned line;
  long long bytes;  /* at most; -1: no limit */
  long long blocks; /* at most; -1: no limit */
} LeakgateAllowance;

/* What begin_allowance returns where nothing was begun. */
#define LEAKGATE_NOT_BEGUN 0xFFFFFFFFu

/* A few lines of code that are measured. */
typedef struct LeakgateMeasuringWindow {
  const char* name;
  const char* file; /* where in the code; may be null */
  unsigned line;
  int is_for_this_thread; /* 1: what other threads allocate does not count */
} LeakgateMeasuringWindow;

/* What a measuring window has outstanding. */
typedef struct LeakgateMeasurement {
  int is_measured; /* 0: the rest says nothing */
  long long bytes;
  long long blocks;
  char* text;             /* the caller's: the call sites go there, terminated; may be null */
  unsigned text_capacity; /* the terminator included */
} LeakgateMeasurement;

enum {
  LEAKGATE_SNAPSHOT_NOT_TRACED = 0,
  LEAKGATE_SNAPSHOT_TAKEN = 1,
  LEAKGATE_SNAPSHOT_FAILED = 2
};

/* Windows and iterations: all on the thread that runs the tests. */
typedef struct LeakgateAgent {
  unsigned version;
  /* From now on boundaries come from these calls alone. */
  void (*attach_listener)(void);
  /* A window's id, 0 if there is no room for another. */
  unsigned (*open_window)(const LeakgateWindow* window);
  /* Waits for the runner if anything is outstanding; else makes no system call. */
  LeakgateVerdict (*close_window)(unsigned window, unsigned result);
  /* An iteration of --gtest_repeat has ended, its tear-down done. Waits for the
   * runner only if it has asked to be told. */
  void (*end_iteration)(unsigned iteration);

  /* From here on, any thread. What the thread allocates until end_allowance is within
   * the allowance; the innermost counts. Returns what end_allowance is to be told. */
  unsigned (*begin_allowance)(const LeakgateAllowance* allowance);
  void (*end_allowance)(unsigned before);
  /* The current window means to leave so much. */
  void (*expect_outstanding)(const LeakgateAllowance* allowance);

  /* From here on, since version 3. A measuring window's id, 0 if it is not measured. */
  unsigned (*open_measuring_window)(const LeakgateMeasuringWindow* window);
  /* What was allocated while it was open, and is still live. */
  void (*measure)(unsigned window, LeakgateMeasurement* result);
  /* The same, at its end, which is now. Where nothing is outstanding, the id is void. */
  void (*end_measuring_window)(unsigned window, LeakgateMeasurement* result);
  /* A snapshot file of this process, now: LEAKGATE_SNAPSHOT_... Where it failed, `text` says
   * why, terminated, in `capacity` bytes at most. */
  int (*take_snapshot)(const char* path, char* text, unsigned capacity);
} LeakgateAgent;

/* Null if this process is not traced, or the agent is older than `version`. Versions
 * only add to the end. */
const LeakgateAgent* leakgate_agent(unsigned version);

typedef const LeakgateAgent* (*LeakgateAgentFunction)(unsigned version);

#ifdef __cplusplus
}
#endif

#endif /* LEAKGATE_AGENT_H_ */
