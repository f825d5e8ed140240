#include "plugin/agent/threads/thread_locals.h"

namespace leakgate::agent {

thread_local constinit ThreadHandle t_thread;
thread_local constinit ThreadFacts t_facts;

}  // namespace leakgate::agent
