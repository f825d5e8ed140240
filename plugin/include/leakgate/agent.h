/* The agent, as code in the test process sees it: plain C, found at run time.
 *
 * `leakgate run` preloads the agent. Without it leakgate_agent() is not there, and dlsym finds
 * nothing: nobody links against it. */
#ifndef LEAKGATE_AGENT_H_
#define LEAKGATE_AGENT_H_

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header, and the versions from which on there are windows, allowances,
 * measuring windows, marks, the program's end and pools. Ask for no newer one than you need: an
 * agent may be older than this header. */
#define LEAKGATE_AGENT_VERSION 6u
#define LEAKGATE_AGENT_WITH_WINDOWS 1u
#define LEAKGATE_AGENT_WITH_ALLOWANCES 2u
#define LEAKGATE_AGENT_WITH_MEASURING 3u
#define LEAKGATE_AGENT_WITH_MARKS 4u
#define LEAKGATE_AGENT_WITH_END 5u
#define LEAKGATE_AGENT_WITH_POOLS 6u
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
  const char* file; /* where the test is defined; may be null */
  unsigned line;
  unsigned iteration; /* of --gtest_repeat, from 1 */
} LeakgateWindow;

/* The answer about a window. It is valid until the next call. The strings are not terminated. */
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
  long long bytes;  /* at most so many; -1 for no limit */
  long long blocks; /* likewise */
} LeakgateAllowance;

/* What begin_allowance returns if nothing was begun. */
#define LEAKGATE_NOT_BEGUN 0xFFFFFFFFu

/* A few lines of code that are measured. */
typedef struct LeakgateMeasuringWindow {
  const char* name;
  const char* file; /* where in the code; may be null */
  unsigned line;
  int is_for_this_thread; /* 1 if what other threads allocate does not count */
} LeakgateMeasuringWindow;

/* What a measuring window has outstanding. */
typedef struct LeakgateMeasurement {
  int is_measured; /* 0 if it could not be measured; then the rest means nothing */
  long long bytes;
  long long blocks;
  char* text;             /* the caller's memory for the call sites, terminated; may be null */
  unsigned text_capacity; /* with the terminator */
} LeakgateMeasurement;

enum {
  LEAKGATE_SNAPSHOT_NOT_TRACED = 0,
  LEAKGATE_SNAPSHOT_TAKEN = 1,
  LEAKGATE_SNAPSHOT_FAILED = 2
};

/* Functions for windows and iterations are called on the thread that runs the tests. */
typedef struct LeakgateAgent {
  unsigned version;
  /* Says that boundaries come from these calls alone from now on. */
  void (*attach_listener)(void);
  /* Returns a window's id, or 0 if there is no room for another. */
  unsigned (*open_window)(const LeakgateWindow* window);
  /* Waits for the runner if anything is outstanding; makes no system call else. */
  LeakgateVerdict (*close_window)(unsigned window, unsigned result);
  /* Says that an iteration of --gtest_repeat has ended, and its tear-down is done. Waits for the
   * runner only if that has asked to be told. */
  void (*end_iteration)(unsigned iteration);

  /* This and all below may be called on any thread. What the thread allocates until end_allowance
   * is within the allowance; the innermost counts. Returns what end_allowance is to be given. */
  unsigned (*begin_allowance)(const LeakgateAllowance* allowance);
  void (*end_allowance)(unsigned before);
  /* Says that the current window means to leave so much. */
  void (*expect_outstanding)(const LeakgateAllowance* allowance);

  /* This and all below are there since version 3. Returns a measuring window's id, or 0 if it is
   * not measured. */
  unsigned (*open_measuring_window)(const LeakgateMeasuringWindow* window);
  /* Tells what was allocated while the window was open, and is still live. */
  void (*measure)(unsigned window, LeakgateMeasurement* result);
  /* Ends the window, and tells the same of its end. If nothing is outstanding, the id is void. */
  void (*end_measuring_window)(unsigned window, LeakgateMeasurement* result);
  /* Writes a snapshot file of this process as it is now. Returns LEAKGATE_SNAPSHOT_... On failure,
   * `text` says why, terminated, in `capacity` bytes at most. */
  int (*take_snapshot)(const char* path, char* text, unsigned capacity);

  /* This is there since version 4. Sets a mark in the recording, if there is one. */
  void (*mark)(const char* name);

  /* This is there since version 5. Says that the program ends, and that no destructor of a static
   * object has run yet. Waits for the runner. Only the first call counts. */
  void (*announce_end)(void);

  /* This and all below are there since version 6: see leakgate/pool.h. Returns the pool's number,
   * or 0 if nothing records it. */
  unsigned (*create_pool)(const char* name);
  void (*allocate_in_pool)(unsigned pool, const void* block, unsigned long long bytes);
  void (*free_in_pool)(unsigned pool, const void* block);
  void (*reset_pool)(unsigned pool);
  void (*destroy_pool)(unsigned pool);
} LeakgateAgent;

/* Returns null if this process is not traced, or if the agent is older than `version`. Later
 * versions only add members at the end. */
const LeakgateAgent* leakgate_agent(unsigned version);

typedef const LeakgateAgent* (*LeakgateAgentFunction)(unsigned version);

#ifdef __cplusplus
}
#endif

#endif /* LEAKGATE_AGENT_H_ */
