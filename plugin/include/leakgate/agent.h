/* The agent, as code in the test process sees it: plain C, found at run time.
 *
 * The agent is preloaded by `leakgate run`. Without it leakgate_agent() is not
 * there, and dlsym finds nothing: nobody links against it. */
#ifndef LEAKGATE_AGENT_H_
#define LEAKGATE_AGENT_H_

#ifdef __cplusplus
extern "C" {
#endif

#define LEAKGATE_AGENT_VERSION 2u
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

/* All on the thread that runs the tests. */
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
} LeakgateAgent;

/* Null if this process is not traced, or `version` is not the agent's. */
const LeakgateAgent* leakgate_agent(unsigned version);

typedef const LeakgateAgent* (*LeakgateAgentFunction)(unsigned version);

#ifdef __cplusplus
}
#endif

#endif /* LEAKGATE_AGENT_H_ */
