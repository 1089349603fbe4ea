/* SPDX-License-Identifier: MIT */
/*
 * HotSpot's attach protocol, the tool's side. The JVM listens at /tmp/.java_pidPID, from the moment
 * when it gets SIGQUIT and finds .attach_pidPID, of its own user, in its working directory or in
 * /tmp. Without that file it would print a thread dump; without a handler it would die. A request
 * is the protocol's version and four words, each ended by NUL; the answer is a line with a number,
 * 0 for success, and text. Version 1 is understood by all of 17 to 25.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "jvm.h"

#define STEP_MS 20
#define POLL_MS 100
#define AGENT_MS 10000 /* what the agent may take to connect to its recorder */
#define ANSWER_MAX 4096

__attribute__((format(printf, 3, 4))) static int say(char *why, int err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, JVM_WHY_MAX, format, args);
	va_end(args);
	return err;
}

static bool cancelled(const struct jvm *j)
{
	return j->cancel && __atomic_load_n(j->cancel, __ATOMIC_RELAXED);
}

/* The file that asks it to listen ----------------------------------------------------------------
 */

struct trigger {
	int directory; /* -1: none was made */
	char name[32];
};

/* Makes the file in @directory, which is taken. Returns 0 or -errno. */
static int trigger_make_in(const struct jvm *j, struct trigger *t, int directory)
{
	char path[64];
	int fd, err = 0;

	if (directory < 0)
		return directory;
	/* An O_PATH descriptor, which openat() takes as well. */
	fd = openat(directory, t->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		err = -errno;
	/* The JVM takes its own user's file only. */
	if (!err && fchown(fd, j->uid, j->gid) && geteuid() != j->uid)
		err = -errno;
	if (fd >= 0)
		close(fd);
	if (err == -EEXIST) { /* left over; in a directory of the JVM's that is as good */
		snprintf(path, sizeof(path), "%s", t->name);
		unlinkat(directory, path, 0);
	}
	if (err) {
		close(directory);
		return err;
	}
	t->directory = directory;
	return 0;
}

static int cwd_open(const struct jvm *j)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/cwd", (int)j->pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int trigger_make(const struct jvm *j, struct trigger *t, char *why)
{
	int err, tries;

	snprintf(t->name, sizeof(t->name), ".attach_pid%d", (int)j->own_pid);
	for (tries = 0; tries < 2; tries++) { /* the second time without what was left over */
		err = trigger_make_in(j, t, jvm_directory(j, "tmp"));
		if (err)
			err = trigger_make_in(j, t, cwd_open(j));
		if (!err)
			return 0;
	}
	return say(why, err, "no file can be made in its /tmp, nor in its working directory: %s",
		   strerror(-err));
}

static void trigger_remove(struct trigger *t)
{
	if (t->directory < 0)
		return;
	unlinkat(t->directory, t->name, 0);
	close(t->directory);
	t->directory = -1;
}

/* The socket --------------------------------------------------------------------------------- */

/* Connects to the socket in @directory; nothing there is followed. Returns a descriptor or -errno.
 */
static int socket_connect(const struct jvm *j, int directory)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char name[32];
	struct stat st;
	int file, fd, err;

	snprintf(name, sizeof(name), ".java_pid%d", (int)j->own_pid);
	file = openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (file < 0)
		return -errno;
	err = fstat(file, &st) ? -errno : S_ISSOCK(st.st_mode) ? 0 : -ENOTSOCK;
	fd = err ? -1 : socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (!err && fd < 0)
		err = -errno;
	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d", file);
	if (!err) {
		/* It wants to be asked by its own user, as it is called in its own namespace. */
		err = jvm_user_become(j);
		if (!err && connect(fd, (struct sockaddr *)&address, sizeof(address)))
			err = -errno;
		jvm_user_restore();
	}
	close(file);
	if (err && fd >= 0)
		close(fd);
	return err ? err : fd;
}

/* Is it that JVM who listens, and nobody in its place? */
static int peer_check(const struct jvm *j, int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size))
		return -errno;
	return peer.pid == j->pid && peer.uid == j->uid ? 0 : -EPERM;
}

static int listening(const struct jvm *j)
{
	int directory = jvm_directory(j, "tmp"), fd, err;

	if (directory < 0)
		return directory;
	fd = socket_connect(j, directory);
	close(directory);
	err = fd < 0 ? 0 : peer_check(j, fd);
	if (!err)
		return fd;
	close(fd);
	return err;
}

static int stopped_say(char *why)
{
	return say(why, -EBUSY, "it is stopped (SIGSTOP, or a debugger): it cannot answer");
}

/* It is alive, and catches the signal: asked as late as can be, through the same process. */
static int signal_safe(struct jvm *j, char *why)
{
	struct jvm now;
	char unused[JVM_WHY_MAX];
	int err = jvm_open(j->pid, &now, unused);

	j->handles_quit = now.handles_quit;
	j->stopped = now.stopped;
	jvm_close(&now);
	if (err)
		return say(why, -ESRCH, "it has ended");
	if (!j->handles_quit)
		return say(why, -EOPNOTSUPP,
			   "it does not catch SIGQUIT (it is just starting, or runs with -Xrs) and "
			   "would be killed by it");
	return j->stopped ? stopped_say(why) : 0;
}

/* Has it listen, and connects. Returns a descriptor, or -errno. */
static int attach_open(const struct jvm *jvm, int timeout_ms, char *why)
{
	const struct timespec step = {0, STEP_MS * 1000000};
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + (uint64_t)timeout_ms * 1000000u;
	struct trigger t = {.directory = -1};
	struct jvm j = *jvm;
	int fd, err;

	if (j.stopped)
		return stopped_say(why);
	fd = listening(&j);
	if (fd >= 0)
		return fd;
	err = signal_safe(&j, why);
	if (!err)
		err = trigger_make(&j, &t, why);
	if (!err && syscall(SYS_pidfd_send_signal, j.pidfd, SIGQUIT, NULL, 0))
		err = say(why, -errno, "it cannot be sent a signal: %s", strerror(errno));
	while (!err && (fd = listening(&j)) < 0) {
		if (fd == -EPERM)
			err = say(why, fd,
				  "another process listens in its place (/tmp/.java_pid%d)",
				  (int)j.own_pid);
		else if (cancelled(&j))
			err = say(why, -ECANCELED, "the recording has ended");
		else if (clock_ns(CLOCK_MONOTONIC) > end)
			err = say(why, -ETIMEDOUT, "it did not answer within %d s",
				  timeout_ms / 1000);
		else
			nanosleep(&step, NULL);
	}
	trigger_remove(&t);
	return err ? err : fd;
}

/* The request -------------------------------------------------------------------------------- */

static int words_send(int fd, const char *const words[], int n)
{
	size_t length;
	int i;

	for (i = 0; i < n; i++) {
		length = strlen(words[i]) + 1;
		if (send(fd, words[i], length, MSG_NOSIGNAL) != (ssize_t)length)
			return -errno;
	}
	return 0;
}

/* All of the answer, until the JVM closes. Returns its length or -errno. */
static int answer_read(const struct jvm *j, int fd, char answer[ANSWER_MAX], int timeout_ms)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + (uint64_t)timeout_ms * 1000000u;
	struct pollfd p = {.fd = fd, .events = POLLIN};
	size_t n = 0;
	ssize_t got;

	for (;;) {
		if (cancelled(j) || clock_ns(CLOCK_MONOTONIC) >= end)
			return -ETIMEDOUT;
		if (poll(&p, 1, POLL_MS) <= 0)
			continue;
		got = recv(fd, answer + n, ANSWER_MAX - 1 - n, MSG_DONTWAIT);
		if (got < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		if (got > 0)
			n += (size_t)got;
		if (!got || n == ANSWER_MAX - 1) {
			answer[n] = 0;
			return (int)n;
		}
	}
}

/* One line without control characters, for people. */
static const char *one_line(char *text)
{
	char *p;

	for (p = text; *p; p++) {
		/* U+0080 to U+009F are such, too. */
		if ((unsigned char)*p == 0xc2 && (unsigned char)p[1] >= 0x80 &&
		    (unsigned char)p[1] < 0xa0)
			p[0] = p[1] = ' ';
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = ' ';
	}
	while (p > text && p[-1] == ' ')
		*--p = 0;
	return text;
}

/*
 * "0\nreturn code: 0\n"; a failure has another number, or says why in the text. -EAGAIN: it loads
 * no agents yet.
 */
static int answer_judge(char *answer, char *why)
{
	static const char code[] = "return code: ";
	char *text = strchr(answer, '\n'), *p;
	long status;

	errno = 0;
	status = strtol(answer, &p, 10);
	if (p == answer || errno)
		return say(why, -EPROTO, "its answer makes no sense: %.200s", one_line(answer));
	text = text ? text + 1 : answer + strlen(answer);
	p = strstr(text, code);
	if (!status && ((p && !strtol(p + strlen(code), NULL, 10)) || !*text))
		return 0;
	/* From 21 on; before, it loads the agent, which waits itself (VM_LIVE_MS). */
	if (strstr(text, "only permitted in the live phase"))
		return say(why, -EAGAIN, "this JVM is still starting; attach once more");
	return say(why, -ECONNREFUSED, "it refuses the agent: %.400s",
		   *text ? one_line(text) : one_line(answer));
}

/* One request, and its answer. */
static int request(const struct jvm *j, const char *path, const char *options, int timeout_ms,
		   char *why)
{
	const char *const words[] = {"1", "load", path, "true", options};
	char answer[ANSWER_MAX];
	int fd = attach_open(j, timeout_ms, why), err;

	if (fd < 0)
		return fd;
	err = words_send(fd, words, sizeof(words) / sizeof(words[0]));
	if (!err)
		err = answer_read(j, fd, answer, timeout_ms + AGENT_MS);
	close(fd);
	if (err == -ETIMEDOUT)
		return say(why, err, "it took the request and did not answer within %d s",
			   (timeout_ms + AGENT_MS) / 1000);
	if (err <= 0)
		return say(why, err ? err : -ECONNRESET, "it closed the connection%s%s",
			   err ? ": " : "", err ? strerror(-err) : "");
	return answer_judge(answer, why);
}

int jvm_attach_load(const struct jvm *j, const char *path, const char *options, int timeout_ms,
		    char *why)
{
	const struct timespec step = {0, POLL_MS * 1000000};
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + (uint64_t)timeout_ms * 1000000u;
	int err;

	for (;;) {
		err = request(j, path, options, timeout_ms, why);
		if (err != -EAGAIN || cancelled(j) || clock_ns(CLOCK_MONOTONIC) > end)
			return err;
		nanosleep(&step, NULL);
	}
}
