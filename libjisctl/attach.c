/* SPDX-License-Identifier: MIT */
/*
 * Jobs of attaching, and their books. A job's thread writes to its own job only, and tells its end
 * by an eventfd; all else is the session's thread's.
 */
#include "attach.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "attach_place.h"
#include "jisctl.h"

struct job {
	struct job *next;
	struct attach *attach;
	pid_t pid;
	unsigned int flags;
	int timeout_ms;
	pthread_t thread;
	struct jvm jvm;
	struct attach_place place;
	struct agent_listener *listener;
	int result; /* of the thread */
	int done;   /* the thread has ended; release, acquire */
	/* From here on the session's thread only. */
	bool joined;
	int state; /* as attach_state() returns it */
	char why[JVM_WHY_MAX];
	char said[JVM_WHY_MAX]; /* by the agent itself */
};

struct attach {
	struct attach_config config;
	int event;
	struct job *jobs; /* the newest first; one a process */
	int cancel;	  /* relaxed: jobs are to end */
};

int attach_open(const struct attach_config *config, struct attach **out)
{
	struct attach *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	a->config = *config;
	a->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (a->event < 0) {
		int err = -errno;

		free(a);
		return err;
	}
	*out = a;
	return 0;
}

int attach_fd(const struct attach *a)
{
	return a->event;
}

static struct job *job_of(const struct attach *a, pid_t pid)
{
	struct job *j;

	for (j = a->jobs; j; j = j->next)
		if (j->pid == pid)
			return j;
	return NULL;
}

/* The thread --------------------------------------------------------------------------------- */

static int job_load(struct job *j)
{
	char options[PATH_MAX];
	int err;

	err = agent_server_listen(j->attach->config.server, j->place.listener, &j->listener);
	if (err) {
		snprintf(j->why, sizeof(j->why), "no further socket can be listened to: %s",
			 strerror(-err));
		return err;
	}
	snprintf(options, sizeof(options), "socket=%s,version=" JIS_VERSION "%s%s%s%s",
		 j->place.socket, j->flags & ATTACH_NO_REWRITE ? ",norewrite" : "",
		 j->flags & ATTACH_NO_VM_STATES ? ",novmstates" : "",
		 j->flags & ATTACH_NO_PATCH ? ",nopatch" : "",
		 j->flags & ATTACH_NO_LINK ? ",nolink" : "");
	return jvm_attach_load(&j->jvm, j->place.library, options, j->timeout_ms, j->why);
}

static void *job_thread(void *arg)
{
	struct job *j = arg;
	uint64_t one = 1;
	int err;

	err = jvm_open(j->pid, &j->jvm, j->why);
	j->jvm.cancel = &j->attach->cancel;
	if (!err)
		err = attach_place_make(&j->place, &j->jvm, j->attach->config.library, j->why);
	if (!err)
		err = job_load(j);
	j->result = err;
	__atomic_store_n(&j->done, 1, __ATOMIC_RELEASE);
	if (write(j->attach->event, &one, sizeof(one)) < 0)
		return NULL; /* it is set already */
	return NULL;
}

static int job_spawn(struct job *j)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	err = pthread_create(&j->thread, NULL, job_thread, j);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -err;
}

/* The books ---------------------------------------------------------------------------------- */

static void say(struct attach *a, const struct job *j)
{
	char text[JVM_WHY_MAX + 64];

	snprintf(text, sizeof(text), "process %d: the agent cannot be attached: %s", (int)j->pid,
		 j->why);
	a->config.log(a->config.ctx, JISCTL_WARNING, text);
}

static int job_join(struct job *j)
{
	struct attach *a = j->attach;
	int err, e;

	pthread_join(j->thread, NULL);
	j->joined = true;
	/* What the agent has said before its JVM answered may still wait: who it is, and its word.
	 */
	err = agent_server_run(a->config.server);
	e = agent_server_run(a->config.server);
	agent_server_unlisten(a->config.server, j->listener);
	j->listener = NULL;
	attach_place_remove(&j->place);
	jvm_close(&j->jvm);
	j->state = j->result;
	if (!j->result && j->said[0]) {
		j->state = -ECONNREFUSED;
		memcpy(j->why, j->said, sizeof(j->why));
	}
	if (j->state)
		say(a, j);
	return err ? err : e;
}

int attach_run(struct attach *a)
{
	struct job *j;
	uint64_t n;
	int err = 0, e;

	if (read(a->event, &n, sizeof(n)) < 0)
		return 0;
	for (j = a->jobs; j; j = j->next) {
		if (j->joined || !__atomic_load_n(&j->done, __ATOMIC_ACQUIRE))
			continue;
		e = job_join(j);
		err = err ? err : e;
	}
	return err;
}

static void job_forget(struct attach *a, struct job *j)
{
	struct job **p = &a->jobs;

	while (*p != j)
		p = &(*p)->next;
	*p = j->next;
	free(j);
}

int attach_start(struct attach *a, pid_t pid, unsigned int flags, int timeout_ms)
{
	struct job *j = job_of(a, pid);
	enum agent_presence presence = agent_server_agent(a->config.server, pid);
	int err;

	if (presence == AGENT_CONNECTED || presence == AGENT_READY || (j && !j->joined))
		return -EALREADY;
	if (!a->config.library)
		return -ENOENT;
	if (j)
		job_forget(a, j);
	j = calloc(1, sizeof(*j));
	if (!j)
		return -ENOMEM;
	j->attach = a;
	j->pid = pid;
	j->flags = flags;
	j->timeout_ms = timeout_ms;
	j->jvm.pidfd = j->jvm.root = -1;
	j->place.parent = j->place.directory = j->place.listener = -1;
	err = job_spawn(j);
	if (err) {
		free(j);
		return err;
	}
	j->next = a->jobs;
	a->jobs = j;
	return 0;
}

int attach_state(const struct attach *a, pid_t pid, char *why)
{
	const struct job *j = job_of(a, pid);

	why[0] = 0;
	switch (agent_server_agent(a->config.server, pid)) {
	case AGENT_READY:
		return 0;
	case AGENT_CONNECTED:
		return -EINPROGRESS;
	case AGENT_GONE:
		if (!j || (j->joined && !j->state))
			return -ECONNABORTED;
		break;
	case AGENT_NONE:
		break;
	}
	if (!j)
		return -ENOENT;
	if (!j->joined)
		return -EINPROGRESS;
	memcpy(why, j->why, sizeof(j->why));
	if (j->state)
		return j->state;
	snprintf(why, JVM_WHY_MAX, "the JVM has loaded the agent, and it has not come to us");
	return -ECONNABORTED;
}

void attach_failed(struct attach *a, pid_t pid, const char *why)
{
	struct job *j = job_of(a, pid);

	if (j)
		snprintf(j->said, sizeof(j->said), "%s", why);
}

void attach_close(struct attach *a)
{
	struct job *j;

	if (!a)
		return;
	__atomic_store_n(&a->cancel, 1, __ATOMIC_RELAXED);
	while ((j = a->jobs)) {
		if (!j->joined)
			job_join(j);
		a->jobs = j->next;
		free(j);
	}
	close(a->event);
	free(a);
}
