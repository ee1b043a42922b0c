/* Holds a pod's namespaces: waits for an end, and buries the dead whose parents are gone. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void end(int signal) { (void)signal; _exit(0); }

static void bury(int signal) {
  (void)signal;
  while (waitpid(-1, 0, WNOHANG) > 0) { }
}

int main(void) {
  signal(SIGINT, end);
  signal(SIGTERM, end);
  signal(SIGCHLD, bury);
  for (;;) pause();
}
