/* SPDX-License-Identifier: MIT */
/*
 * Runs a command for `jis record`: looks whether it can be run, forks it, passes signals on, and
 * waits for its end. Knows nothing of what is recorded.
 */
#include "run_command.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"

#define WAIT_MS 250

/* Signals ------------------------------------------------------------------------------------ */

static volatile sig_atomic_t signals_got, child_signalled, last_signal;
static struct jisctl_session *signalled_session;

static void on_signal(int sig, siginfo_t *info, void *context)
{
	int saved = errno;

	if (sig == SIGCHLD) {
		child_signalled = 1;
	} else {
		signals_got++;
		/* From the terminal it reaches the command by itself, from a process it does not.
		 */
		last_signal = info->si_code == SI_KERNEL ? 0 : sig;
	}
	if (signalled_session)
		jisctl_session_wake(signalled_session);
	errno = saved;
}

void signals_watch(void)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
	struct sigaction old;

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (sigaction(SIGHUP, NULL, &old) || old.sa_handler != SIG_IGN) /* nohup stays nohup */
		sigaction(SIGHUP, &action, NULL);
	sigaction(SIGCHLD, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

void signals_wake(struct jisctl_session *s)
{
	signalled_session = s;
}

int signals_count(void)
{
	return signals_got;
}

int signals_status(void)
{
	return 128 + (last_signal ? last_signal : SIGINT);
}

void signals_forward(const struct run_command *c)
{
	static sig_atomic_t forwarded;

	if (signals_got == forwarded)
		return;
	forwarded = signals_got;
	if (last_signal && c->child.pid > 0)
		kill(c->child.pid, last_signal);
}

/* The command -------------------------------------------------------------------------------- */

int run_command_check(struct run_command *c)
{
	char path[PATH_MAX];

	if (!c->argv)
		return CLI_OK;
	if (launch_find(c->argv[0], path)) {
		cli_error("%s: %s", c->argv[0],
			  errno == ENOENT ? "command not found" : strerror(errno));
		return errno == ENOENT ? CLI_NOT_FOUND : 126;
	}
	return launch_user_find(c->user_name, &c->user) ? CLI_USAGE : CLI_OK;
}

/* The agent's path for JAVA_TOOL_OPTIONS; without it the kernel side is still recorded. */
static const char *prepare_agent(struct run_command *c)
{
	char why[512];

	if (!agent_copy_find(&c->agent, &c->user, why, sizeof(why)))
		return c->agent.path;
	cli_warn("JVMs will run without the agent, so only their kernel side is recorded: %s", why);
	return NULL;
}

int run_command_fork(struct run_command *c, const char *socket, const char *agent_options)
{
	struct launch_env env = {.socket = socket, .agent_options = agent_options};
	int err;

	if (agent_options)
		env.agent = prepare_agent(c);
	err = launch_fork(&c->child, c->argv, &c->user, &env);
	if (err)
		cli_error("cannot fork: %s", strerror(-err));
	return err ? CLI_FAILED : CLI_OK;
}

int run_command_go(struct run_command *c)
{
	int err = launch_go(&c->child);

	if (!err)
		return CLI_OK;
	cli_error("%s: cannot be run as %s: %s", c->argv[0], c->user.name, strerror(-err));
	return err == -ENOENT ? CLI_NOT_FOUND : 126;
}

void run_command_drop(struct run_command *c)
{
	close(c->child.go_fd);
}

void run_command_reap(struct run_command *c)
{
	int status;

	if (!child_signalled || !c->argv || c->ended)
		return;
	child_signalled = 0;
	if (waitpid(c->child.pid, &status, WNOHANG) != c->child.pid)
		return;
	c->ended = true;
	c->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void run_command_wait(struct run_command *c)
{
	do {
		signals_forward(c);
		child_signalled = 1;
		run_command_reap(c);
		if (!c->ended)
			poll(NULL, 0, WAIT_MS); /* a signal ends it, were it the child's */
	} while (!c->ended);
}
