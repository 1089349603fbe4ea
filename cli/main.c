/* SPDX-License-Identifier: MIT */
/*
 * `jis`: finds the sub-command and hands over. Owns the list of sub-commands and nothing else.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "libjisctl/jisctl.h"

const char *cli_verb;
bool cli_quiet;

static const struct command commands[] = {
	{"record", cmd_record, "run a command, or watch running processes, and record them"},
	{"pause", cmd_pause, "pause a recording under way"},
	{"resume", cmd_resume, "go on with a paused recording"},
	{"snapshot", cmd_snapshot, "write what a flight recorder holds"},
	{"attach", cmd_attach, "bring the agent into a running JVM"},
	{"detach", cmd_detach, "have the agent leave a JVM"},
	{"methods", cmd_methods, "change which Java methods are traced, or list them"},
	{"info", cmd_info, "what a trace holds: host, clock, streams, losses"},
	{"dump", cmd_dump, "all events as text"},
	{"report", cmd_report, "threads with their running, ready and blocked times"},
	{"why", cmd_why, "what a span, or an interval of a thread, really waited for"},
	{"stats", cmd_stats, "calls of traced methods in numbers: how long, and what for"},
	{"rmi", cmd_rmi, "remote calls between JVMs: how many, how long, and where in between"},
	{"tree", cmd_tree, "calls of methods and remote calls as a tree, across JVMs"},
	{"export", cmd_export, "write the trace for another tool: export paraver DIR -o X.prv"},
	{"merge", cmd_merge, "make recordings of several hosts one trace on one clock"},
	{"recover", cmd_recover, "make the trace of a killed recorder readable"},
	{"doctor", cmd_doctor, "what works on this host, what does not, and the remedy"},
};

#define NR_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static int usage(FILE *out)
{
	fprintf(out, "usage: jis COMMAND [OPTION]... (jis COMMAND --help says more)\n\n"
		     "Records what the Linux kernel did with every thread of a Java server and "
		     "what the\n"
		     "thread was doing in Java, on one clock.\n\n");
	for (size_t i = 0; i < NR_COMMANDS; i++)
		fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].summary);
	fprintf(out,
		"\nThe usual way: jis record -o trace -- java -jar server.jar; jis report trace;\n"
		"jis export paraver trace -o server.prv\n");
	return out == stdout ? CLI_OK : CLI_USAGE;
}

/*
 * With one of them closed, the next file to be opened would be written into by every message.
 * Opened for the other direction, so that what is printed to a closed one fails as before.
 */
static void open_standard_files(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			(void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* Output that nobody got is a failure. */
static int finish_output(int status)
{
	bool failed = ferror(stdout);

	errno = 0;
	if (!fflush(stdout) && !failed)
		return status;
	cli_error("cannot write to the standard output%s%s", errno ? ": " : "",
		  errno ? strerror(errno) : "");
	return status == CLI_OK ? CLI_FAILED : status;
}

static int run(int argc, char **argv)
{
	if (argc < 2)
		return usage(stderr);
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
		return usage(stdout);
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("jis %s\n", jisctl_version());
		return CLI_OK;
	}
	for (size_t i = 0; i < NR_COMMANDS; i++) {
		if (!strcmp(argv[1], commands[i].name)) {
			cli_verb = commands[i].name;
			return commands[i].run(argc - 1, argv + 1);
		}
	}
	fprintf(stderr, "jis: there is no command \"%s\"; jis --help lists them\n", argv[1]);
	return CLI_USAGE;
}

int main(int argc, char **argv)
{
	open_standard_files();
	return finish_output(run(argc, argv));
}
