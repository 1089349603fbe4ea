/* SPDX-License-Identifier: MIT */
/*
 * Keeps the kernel's books of another program: books COMMAND [ARGUMENT]...
 *
 * Runs COMMAND. On SIGUSR1 it writes down, thread by thread, what the kernel's own books say: run
 * and wait time of schedstat, voluntary and involuntary switches; then it ends COMMAND by SIGTERM
 * and itself. A thread is read while it sleeps, as the books of one that runs lag behind: when it
 * did not sleep, or had run between two readings, it is read again. Markers 9001 and 9002 with the
 * tid as value stand around each reading; the last pair of a tid counts. Prints, as class Truth
 * does, THREAD tid=N run=NS wait=NS voluntary=N involuntary=N name=TEXT, and last END and their
 * number. Never says anything of a thread that ended meanwhile.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libjisctl/jisctl.h"

#define TRIES_MAX 10000

struct books {
	unsigned long long run, wait;
	unsigned long voluntary, involuntary;
	char asleep;
};

static struct jis_writer *writer;
static pid_t child;

static void fail(const char *what)
{
	fprintf(stderr, "books: %s: %s\n", what, strerror(errno));
	if (child > 0)
		kill(child, SIGKILL);
	exit(1);
}

/* Reads a file of thread @tid; 0, or -1 when the thread has ended. */
static int read_file(int tid, const char *name, char *text, size_t n)
{
	char path[64];
	size_t got;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)child, tid, name);
	f = fopen(path, "r");
	if (!f)
		return -1;
	got = fread(text, 1, n - 1, f);
	text[got] = 0;
	fclose(f);
	return got ? 0 : -1;
}

static int read_books(int tid, struct books *b)
{
	char text[4096], state = 0;
	const char *p;

	memset(b, 0, sizeof(*b));
	if (read_file(tid, "status", text, sizeof(text)) < 0)
		return -1;
	p = strstr(text, "\nvoluntary_ctxt_switches:");
	if (!p || sscanf(p, "\nvoluntary_ctxt_switches: %lu\nnonvoluntary_ctxt_switches: %lu",
			 &b->voluntary, &b->involuntary) != 2)
		return -1;
	p = strstr(text, "\nState:");
	if (p && sscanf(p, "\nState: %c", &state) == 1)
		b->asleep = state == 'S';
	if (read_file(tid, "schedstat", text, sizeof(text)) < 0)
		return -1;
	return sscanf(text, "%llu %llu", &b->run, &b->wait) == 2 ? 0 : -1;
}

/* 1 and the books of a sleeping thread; 0 when the thread has ended. */
static int read_asleep(int tid, struct books *b)
{
	struct books again;
	int i;

	for (i = 0; i < TRIES_MAX; i++) {
		jisctl_event(writer, 9001, tid);
		if (read_books(tid, b) < 0)
			return 0;
		/* Whoever has only just begun to go to sleep is off the CPU after this. */
		usleep(1000);
		if (read_books(tid, &again) < 0)
			return 0;
		jisctl_event(writer, 9002, tid);
		if (b->asleep && !memcmp(b, &again, sizeof(again)))
			return 1;
	}
	fprintf(stderr, "books: thread %d did not sleep at any of %d readings\n", tid, TRIES_MAX);
	kill(child, SIGKILL);
	exit(1);
}

/* The threads there are now; later ones are none of ours. */
static int read_threads(void)
{
	char path[64], name[64];
	struct dirent *entry;
	int threads = 0, tid;
	struct books b;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)child);
	dir = opendir(path);
	if (!dir)
		fail(path);
	while ((entry = readdir(dir))) {
		tid = atoi(entry->d_name);
		if (tid <= 0 || !read_asleep(tid, &b) ||
		    read_file(tid, "comm", name, sizeof(name)) < 0)
			continue;
		name[strcspn(name, "\n")] = 0;
		printf("THREAD tid=%d run=%llu wait=%llu voluntary=%lu involuntary=%lu name=%s\n",
		       tid, b.run, b.wait, b.voluntary, b.involuntary, name);
		threads++;
	}
	closedir(dir);
	return threads;
}

static void start(char **command, const sigset_t *mask)
{
	child = fork();
	if (child < 0)
		fail("fork");
	if (!child) {
		sigprocmask(SIG_UNBLOCK, mask, NULL);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execvp(command[0], command);
		fprintf(stderr, "books: %s: %s\n", command[0], strerror(errno));
		_exit(127);
	}
}

int main(int argc, char **argv)
{
	int err, sig, threads;
	sigset_t mask;

	if (argc < 2) {
		fprintf(stderr, "usage: books COMMAND [ARGUMENT]...\n");
		return 2;
	}
	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR1);
	sigaddset(&mask, SIGCHLD);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	start(argv + 1, &mask);
	err = jisctl_writer_open(&writer);
	if (err < 0) {
		errno = -err;
		fail("no recorder takes the markers");
	}
	if (sigwait(&mask, &sig) || sig != SIGUSR1) {
		fprintf(stderr, "books: %s ended too early\n", argv[1]);
		return 1;
	}
	threads = read_threads();
	printf("END %d\n", threads);
	kill(child, SIGTERM);
	waitpid(child, NULL, 0);
	jisctl_writer_close(writer);
	return threads == 0;
}
