/* SPDX-License-Identifier: MIT */
/*
 * A program that knows what it did: witness [PAIRS [ROUNDS [MARKERS [SPIN]]]].
 *
 * PAIRS pairs of threads play ping-pong over two pipes, ROUNDS times, counting SPIN down, and each
 * writes MARKERS markers of type 1 with values 0, 1, 2... Then all of them wait in a read that does
 * not end before main has written down what the kernel counted for each, and a marker of type 99.
 * As a thread that waits does not switch, the trace up to that marker must tell the same. Prints
 * for each worker tid=N switches=N run_ns=N markers=N
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libjisctl/jisctl.h"

#define PAIRS_MAX 64

struct worker {
	pthread_t thread;
	int in, out;
	int starts;
	int tid; /* 0 until it runs; negative once it waits for the end */
};

static struct worker workers[2 * PAIRS_MAX];
static int rounds = 1000, markers = 1000, spin = 20000, end_pipe[2];
static struct jis_writer *writer;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void compute(void)
{
	volatile int n = spin;

	while (n > 0)
		n--;
}

static void *work(void *arg)
{
	struct worker *w = arg;
	int i, per_round = markers / rounds + 1, written = 0, k;
	char c = 'x';

	w->tid = (int)syscall(SYS_gettid);
	for (i = 0; i < rounds; i++) {
		if (w->starts && write(w->out, &c, 1) != 1)
			fail("write");
		if (read(w->in, &c, 1) != 1)
			fail("read");
		for (k = 0; k < per_round && written < markers; k++)
			jisctl_event(writer, 1, written++);
		compute();
		if (!w->starts && write(w->out, &c, 1) != 1)
			fail("write");
	}
	while (written < markers)
		jisctl_event(writer, 1, written++);
	__atomic_store_n(&w->tid, -w->tid, __ATOMIC_RELEASE);
	if (read(end_pipe[0], &c, 1) < 0) /* ends when main closes the other end */
		fail("read");
	return NULL;
}

static void read_file(int tid, const char *name, char *text, size_t n)
{
	char path[64];
	size_t got;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/%s", tid, name);
	f = fopen(path, "r");
	if (!f)
		fail(path);
	got = fread(text, 1, n - 1, f);
	text[got] = 0;
	fclose(f);
}

/* Waits until the worker sleeps in its last read: no switch can come after that. */
static void wait_asleep(struct worker *w)
{
	char text[512], *state;
	int tid;

	while ((tid = __atomic_load_n(&w->tid, __ATOMIC_ACQUIRE)) >= 0)
		usleep(1000);
	w->tid = -tid;
	do {
		usleep(2000);
		read_file(w->tid, "stat", text, sizeof(text));
		state = strrchr(text, ')');
	} while (!state || state[2] != 'S');
}

static unsigned long status_value(const char *text, const char *name)
{
	const char *p = strstr(text, name);

	return p ? strtoul(p + strlen(name), NULL, 10) : 0;
}

static void report(const struct worker *w)
{
	char text[4096];
	unsigned long switches;

	read_file(w->tid, "status", text, sizeof(text));
	switches = status_value(text, "\nvoluntary_ctxt_switches:") +
		   status_value(text, "\nnonvoluntary_ctxt_switches:");
	read_file(w->tid, "schedstat", text, sizeof(text));
	printf("worker tid=%d switches=%lu run_ns=%lu markers=%d\n", w->tid, switches,
	       strtoul(text, NULL, 10), markers);
}

static void start_pair(int i)
{
	int there[2], back[2], k;

	if (pipe(there) || pipe(back))
		fail("pipe");
	workers[2 * i] = (struct worker){.in = back[0], .out = there[1], .starts = 1};
	workers[2 * i + 1] = (struct worker){.in = there[0], .out = back[1]};
	for (k = 2 * i; k < 2 * i + 2; k++)
		if (pthread_create(&workers[k].thread, NULL, work, &workers[k]))
			fail("pthread_create");
}

int main(int argc, char **argv)
{
	int pairs = argc > 1 ? atoi(argv[1]) : 1, i, err;

	rounds = argc > 2 ? atoi(argv[2]) : rounds;
	markers = argc > 3 ? atoi(argv[3]) : markers;
	spin = argc > 4 ? atoi(argv[4]) : spin;
	if (pairs < 1 || pairs > PAIRS_MAX || rounds < 1 || markers < 0)
		return 2;
	err = jisctl_writer_open(&writer);
	printf("main tid=%d writer=%d\n", (int)getpid(), err);
	if (pipe(end_pipe))
		fail("pipe");
	for (i = 0; i < pairs; i++)
		start_pair(i);
	for (i = 0; i < 2 * pairs; i++)
		wait_asleep(&workers[i]);
	jisctl_event(writer, 99, 0);
	for (i = 0; i < 2 * pairs; i++)
		report(&workers[i]);
	close(end_pipe[1]);
	for (i = 0; i < 2 * pairs; i++)
		pthread_join(workers[i].thread, NULL);
	jisctl_writer_close(writer);
	return 0;
}
