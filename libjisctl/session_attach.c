/* SPDX-License-Identifier: MIT */
/*
 * A session and JVMs that run already: the agent is brought to them when somebody asks, and takes
 * its leave of all JVMs before the recording ends.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session.h"
#include "trace/manifest.h"

#define ATTACH_TIMEOUT_MS 10000
#define LEAVE_MS 5000u
#define LEAVE_STEP_MS 50

static void log_line(void *ctx, int level, const char *text)
{
	session_log(ctx, (enum jisctl_level)level, "%s", text);
}

int session_attach_open(struct jisctl_session *s)
{
	struct attach_config config = {.server = s->agents, .log = log_line, .ctx = s};
	char *directory = realpath(s->options.directory, NULL);

	if (directory)
		agent_server_link(s->agents, directory);
	free(directory);

	if (s->options.agent) {
		s->agent_library = strdup(s->options.agent);
		if (!s->agent_library)
			return -ENOMEM;
	}
	config.library = s->agent_library;
	return attach_open(&config, &s->attach);
}

void session_attach_close(struct jisctl_session *s)
{
	attach_close(s->attach);
	s->attach = NULL;
	free(s->agent_library);
	s->agent_library = NULL;
}

void session_agent_failed(void *ctx, pid_t pid, const char *why)
{
	struct jisctl_session *s = ctx;

	attach_failed(s->attach, pid, why);
}

static int attach_begin(struct jisctl_session *s, pid_t pid, unsigned int flags)
{
	if (s->options.no_rewrite)
		flags |= ATTACH_NO_REWRITE;
	if (s->options.no_vm_states)
		flags |= ATTACH_NO_VM_STATES;
	if (s->options.no_patch)
		flags |= ATTACH_NO_PATCH;
	if (s->options.no_link)
		flags |= ATTACH_NO_LINK;
	return attach_start(s->attach, pid, flags, ATTACH_TIMEOUT_MS);
}

int jisctl_session_attach(struct jisctl_session *s, pid_t pid, int flags)
{
	if (s->state == JIS_SESSION_STOPPED || flags & ~JISCTL_ATTACH_NO_REWRITE)
		return -EINVAL;
	if (!s->ops->is_target(s->backend, pid))
		return -ESRCH;
	if (!jvm_is(pid))
		return -ENOEXEC;
	return attach_begin(s, pid, flags & JISCTL_ATTACH_NO_REWRITE ? ATTACH_NO_REWRITE : 0);
}

int jisctl_session_attach_all(struct jisctl_session *s)
{
	DIR *proc = opendir("/proc");
	struct dirent *e;
	int n = 0;

	if (!proc)
		return -errno;
	while ((e = readdir(proc))) {
		pid_t pid = isdigit((unsigned char)e->d_name[0]) ? atoi(e->d_name) : 0;

		if (pid > 0 && jisctl_session_attach(s, pid, 0) == 0)
			n++;
	}
	closedir(proc);
	return n;
}

/* Commands ----------------------------------------------------------------------------------- */

static int say(char *text, int err, const char *what)
{
	snprintf(text, CONTROL_TEXT_MAX, "%s", what);
	return err;
}

/* Who is attached to need not be a target yet: it becomes one, as with `jis record -p`. */
static int target_make(struct jisctl_session *s, pid_t pid, const char *name)
{
	struct jisctl_target target = {.size = sizeof(target),
				       .kind = JISCTL_TARGET_PROCESS,
				       .pid = pid,
				       .name = name};

	if (!s->ops->is_target(s->backend, pid))
		return jisctl_session_add_target2(s, &target);
	return name ? recorder_process_name(s->recorder, (uint32_t)pid, name) : 0;
}

static int command_attach(struct jisctl_session *s, const struct control_request *request,
			  char *text)
{
	const char *name = request->path[0] ? request->path : NULL;
	pid_t pid = request->pid;
	int err;

	if (pid <= 0 || request->flags & ~ATTACH_NO_REWRITE || (name && process_name_wrong(name)))
		return say(text, -EINVAL, "no such command");
	if (!jvm_is(pid))
		return say(text, -ENOEXEC, "there is no HotSpot JVM of that number");
	err = target_make(s, pid, name);
	if (err)
		return say(text, err, "it cannot be recorded");
	err = attach_begin(s, pid, request->flags);
	if (err == -EALREADY)
		return say(text, err, "the agent is there already");
	if (err == -ENOENT)
		return say(text, err,
			   "the recorder has no agent: libjisagent.so is neither beside "
			   "the jis program nor in ../lib/jis");
	return say(text, err, err ? "the attach cannot be begun" : "attaching");
}

static int command_agent(struct jisctl_session *s, const struct control_request *request,
			 char *text)
{
	char why[JVM_WHY_MAX];
	int err = attach_state(s->attach, request->pid, why);

	snprintf(text, CONTROL_TEXT_MAX, "%.*s", CONTROL_TEXT_MAX - 1,
		 err == 0	       ? "attached"
		 : err == -EINPROGRESS ? "attaching"
		 : err == -ENOENT      ? "it has no agent"
		 : why[0]	       ? why
				       : "the agent has left");
	return err;
}

static int command_detach(struct jisctl_session *s, const struct control_request *request,
			  char *text)
{
	if (request->pid <= 0 || !agent_server_stop(s->agents, request->pid))
		return say(text, -ENOENT, "it has no agent");
	return say(text, 0, "detaching");
}

int session_attach_command(struct jisctl_session *s, const struct control_request *request,
			   char *text)
{
	if (!strcmp(request->command, "attach"))
		return command_attach(s, request, text);
	if (!strcmp(request->command, "detach"))
		return command_detach(s, request, text);
	if (!strcmp(request->command, "agent"))
		return command_agent(s, request, text);
	return -ENOSYS;
}

/* The end ------------------------------------------------------------------------------------ */

int session_agents_leave(struct jisctl_session *s)
{
	struct pollfd p = {.fd = agent_server_fd(s->agents), .events = POLLIN};
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + LEAVE_MS * 1000000ull;
	int err = 0, e;

	session_attach_close(s);
	if (!agent_server_stop(s->agents, 0))
		return 0;
	while (agent_server_jvms(s->agents) && clock_ns(CLOCK_MONOTONIC) < end) {
		poll(&p, 1, LEAVE_STEP_MS);
		e = agent_server_run(s->agents);
		err = err ? err : e;
		e = agent_server_drain(s->agents, false);
		err = err || e > 0 ? err : e;
	}
	if (agent_server_jvms(s->agents))
		session_log(
			s, JISCTL_WARNING,
			"%u JVMs have not let go of the agent: they stand still, and will do so "
			"when they run again",
			agent_server_jvms(s->agents));
	return err;
}
