// SPDX-License-Identifier: MIT
/*
 * jisrules: a rule by name holds while rules for other names come and go.
 *
 *   jisrules N PROGRAM
 *
 * Executes PROGRAM, whose name is a target, N times, while another thread adds and removes a rule
 * for a name that nobody has; then N / 10 times without its rule. Each exec is told if the rule is
 * there and none if it is not. Prints what does not hold; status 0 when all does.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jis/abi.h"

extern char **environ;

static int session;
static unsigned int nr_cpus;
static volatile int over;
static unsigned long changes;

static void check(const char *what, int result)
{
	if (!result)
		return;
	perror(what);
	exit(1);
}

static int rule(unsigned long how, const char *name)
{
	struct jis_target t = {.size = sizeof(t), .kind = JIS_TARGET_EXECUTABLE};

	snprintf(t.name, sizeof(t.name), "%s", name);
	return ioctl(session, how, &t);
}

static void open_session(void)
{
	struct jis_setup setup = {.size = sizeof(setup),
				  .abi_version = JIS_ABI_VERSION,
				  .clock = JIS_CLOCK_RAW};

	session = open(JIS_DEVICE, O_RDWR | O_CLOEXEC);
	check(JIS_DEVICE, session < 0);
	check("SETUP", ioctl(session, JIS_IOC_SETUP, &setup));
	nr_cpus = setup.nr_cpus;
}

/* How many execs were told until now; those there was no room for are counted too. */
static unsigned long told(void)
{
	unsigned long n = 0;

	for (unsigned int cpu = 0; cpu < nr_cpus; cpu++) {
		struct jis_counters c = {.size = sizeof(c), .cpu = cpu};

		check("COUNTERS", ioctl(session, JIS_IOC_COUNTERS, &c));
		n += c.produced[JIS_EV_sched_process_exec];
	}
	return n;
}

static void *change(void *unused)
{
	while (!over) {
		check("TARGET_ADD", rule(JIS_IOC_TARGET_ADD, "jis-nobody"));
		check("TARGET_REMOVE", rule(JIS_IOC_TARGET_REMOVE, "jis-nobody"));
		changes += 2;
	}
	return unused;
}

/* Executes the program so many times; returns how many of them were told. */
static unsigned long execs(char *program, long n)
{
	char *argv[] = {program, NULL};
	unsigned long before = told();
	int status;
	pid_t pid;

	while (n--) {
		errno = posix_spawn(&pid, program, NULL, NULL, argv, environ);
		check(program, errno);
		if (waitpid(pid, &status, 0) != pid || status) {
			printf("%s ended with 0x%x\n", program, status);
			exit(1);
		}
	}
	return told() - before;
}

int main(int argc, char **argv)
{
	unsigned long with, without;
	const char *name;
	pthread_t thread;
	long n;

	if (argc < 3)
		return 2;
	n = atol(argv[1]);
	name = strrchr(argv[2], '/') + 1;
	open_session();
	check("TARGET_ADD", rule(JIS_IOC_TARGET_ADD, name));
	check("START", ioctl(session, JIS_IOC_START, NULL));
	check("pthread_create", pthread_create(&thread, NULL, change, NULL));
	with = execs(argv[2], n);
	over = 1;
	pthread_join(thread, NULL);
	check("TARGET_REMOVE", rule(JIS_IOC_TARGET_REMOVE, name));
	without = execs(argv[2], n / 10);
	printf("%ld execs with the rule, %lu told, %lu other rules changed; %ld without, %lu "
	       "told\n",
	       n, with, changes, n / 10, without);
	return with != (unsigned long)n || without || changes < 10;
}
