/* SPDX-License-Identifier: MIT */
/*
 * `jis record`: runs a command, or watches running processes, and records them into a directory.
 * Owns the life of the session: signals, duration, the command's end, and what is said about it.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <jis/agent.h>

#include "agent_copy.h"
#include "cli.h"
#include "java_families.h"
#include "launch.h"
#include "libjisctl/jisctl.h"
#include "libjisctl/syscalls.h"
#include "methods_list.h"
#include "record_summary.h"
#include "targets.h"
#include "trace/manifest.h"

static const char help[] =
	"usage: jis record [OPTION]... -- COMMAND [ARGUMENT]...\n"
	"       jis record [OPTION]... -p PID [-p PID]...\n"
	"       jis record [OPTION]... --cgroup PATH | --executable NAME | --tid TID | --all\n\n"
	"Runs COMMAND and records what the kernel did with its threads and those of its children, "
	"and\n"
	"what every JVM among them tells (thread names, GC, markers); or does so with running "
	"processes,\n"
	"attaching to the JVMs among them. Needs root; COMMAND runs as the user who called "
	"sudo.\n\n"
	"  -o, --output DIR      trace directory (default jis-trace; must be new or empty)\n"
	"  -p, --pid PID         record this running process\n" TARGETS_HELP
	"  -u, --user NAME       run COMMAND as this user\n"
	"      --backend B       auto (default), kmod or ftrace\n"
	"      --clock C         auto (default), tsc or raw (CLOCK_MONOTONIC_RAW)\n"
	"      --duration TIME   end the recording after TIME (10s, 500ms, 2m)\n"
	"      --buffer SIZE     kernel buffers in all (default: smaller of 64M and 1 % of RAM)\n"
	"      --pool SIZE       buffer of each JVM or marked program (default 16M)\n"
	"      --max-size SIZE   end the recording when the trace has this size\n"
	"      --flush MS        what is older than this survives a killed recorder (default 500)\n"
	"      --all-switches    record every switch of every CPU, not only those of the "
	"processes\n"
	"      --flight-recorder keep only the newest, in the buffers, until jis snapshot or the "
	"end\n"
	"      --syscalls LIST   record these system calls: names and io, net, lock, time, mem, "
	"file,\n"
	"                        all, separated by commas; -NAME takes one away again\n"
	"      --events LIST     record these too: fault, block, irq, signal, power\n"
	"      --java LIST       what JVMs tell: default, all, none, and names as in "
	"jis-record(1),\n"
	"                        separated by commas; -NAME takes one away\n"
	"      --stacks SPEC     Java stacks of waits: blocked>1ms\n"
	"      --allocations SIZE  a sample for about each SIZE bytes that Java threads allocate\n"
	"      --methods LIST    calls of these Java methods: patterns as com.acme.* or "
	"**.Service.handle*,\n"
	"                        !PATTERN, presets app, web, all, and @FILE, separated by commas\n"
	"      --mark METHOD     the same for one method, with a span around it: CLASS.METHOD\n"
	"      --arguments LIST  the same, with arguments and receivers: 'CLASS.METHOD(this,0,2)', "
	"(*)\n"
	"      --argument-strings N  of strings, tell the first N characters (default 0: length "
	"and hash)\n"
	"      --methods-budget PERCENT  of a JVM's CPU time their calls may cost (default 15, 0: "
	"no limit)\n"
	"      --methods-dry-run only tell which methods those are, with their reasons\n"
	"      --jni-probes      set no flag of JVMs to make that cheaper, nor patch their code\n"
	"      --no-patch        do not patch the code by which JVMs call natives\n"
	"      --no-agent        kernel side only\n"
	"      --no-rewrite      change no class of JVMs: JVMTI's own events only\n"
	"      --no-vm-states    do not record the JVM's own states of its threads\n"
	"      --no-uprobes      safepoints from the JVM's log, not by probes in its code\n"
	"  -q, --quiet           say only what went wrong\n"
	"  -h, --help            this text\n\n"
	"Ctrl-C goes to COMMAND too; the recording ends with it. A second Ctrl-C ends it at once.\n"
	"The exit status is COMMAND's, 127 when it was not found, 1 when recording failed.\n";

#define ALLOCATIONS_DEFAULT (512u << 10) /* --java allocations: the JVM's own default */
#define METHODS_BUDGET 15		 /* --methods-budget */
#define STACKS_DEFAULT_NS 1000000u	 /* --java stacks */

struct record {
	struct jisctl_options options;
	struct jisctl_session *session;
	struct targets targets;
	char **command;
	const char *user_name;
	bool no_agent, all;
	char agent_library[PATH_MAX]; /* for JVMs that are attached to */
	uint64_t duration_ns;
	uint32_t java; /* JIS_FEATURE_* */
	bool stacks;
	char *methods; /* rules */
	const char *argument_strings;
	bool jni_probes;
	struct launch_user user;
	struct launch child;
	struct agent_copy agent;
	int status; /* the command's exit status */
	bool ended; /* the command has ended */
	const char *reason;
};

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

static void watch_signals(void)
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

static void on_log(void *ctx, enum jisctl_level level, const char *text)
{
	if (level == JISCTL_ERROR)
		cli_error("%s", text);
	else if (level == JISCTL_WARNING)
		cli_warn("%s", text);
	else
		cli_note("%s", text);
}

static int parse_choice(const char *option, const char *text, const char *const *names)
{
	for (int i = 0; names[i]; i++)
		if (!strcmp(text, names[i]))
			return i;
	cli_error("--%s: \"%s\" is none of %s, %s, %s", option, text, names[0], names[1], names[2]);
	return -1;
}

/* Said here, not by the session: a wrong name is a wrong command line. */
static int check_syscalls(const char *list)
{
	struct jis_syscalls calls;
	struct utsname host;
	char why[256];

	uname(&host);
	if (!syscalls_parse(list, host.machine, &calls, why, sizeof(why)))
		return 0;
	cli_error("--syscalls: %s", why);
	return -1;
}

/* fault,irq,...: names of events in the order of their flags. */
static int take_events(struct record *r, const char *list)
{
	static const char *const names[] = {"fault", "block", "irq", "signal", "power"};
	const char *word = list;

	for (;;) {
		size_t len = strcspn(word, ","), i;

		for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			if (len == strlen(names[i]) && !strncmp(word, names[i], len))
				break;
		if (i == sizeof(names) / sizeof(names[0])) {
			cli_error("--events: \"%.*s\" is none of fault, block, irq, signal, power",
				  (int)len, word);
			return -1;
		}
		r->options.events |= 1u << i;
		if (!word[len])
			return 0;
		word += len + 1;
	}
}

static int take_option(struct record *r, int opt, const char *value)
{
	static const char *const backends[] = {"auto", "kmod", "ftrace", NULL};
	static const char *const clocks[] = {"auto", "tsc", "raw", NULL};
	int choice;

	switch (opt) {
	case 'o':
		if (!*value)
			cli_error("--output: the name of the trace directory is empty");
		r->options.directory = value;
		return *value ? 0 : -1;
	case 'u':
		r->user_name = value;
		return 0;
	case 'B':
		choice = parse_choice("backend", value, backends);
		r->options.backend = (enum jisctl_backend)choice;
		return choice < 0 ? -1 : 0;
	case 'C':
		choice = parse_choice("clock", value, clocks);
		r->options.clock = (enum jisctl_clock)choice;
		return choice < 0 ? -1 : 0;
	case 'D':
		return cli_parse_duration("duration", value, &r->duration_ns);
	case 'b':
		if (cli_parse_size("buffer", value, &r->options.buffer_bytes))
			return -1;
		if (!r->options.buffer_bytes) {
			cli_error(
				"--buffer: 0 holds nothing; leave the option out for the default");
			return -1;
		}
		return 0;
	case 'L':
		return cli_parse_size("pool", value, &r->options.pool_bytes);
	case 'M':
		return cli_parse_size("max-size", value, &r->options.max_bytes);
	case 'f':
		return cli_parse_u32("flush", value, 10, 60000, &r->options.flush_ms);
	case 'A':
		r->options.all_switches = 1;
		return 0;
	case 'R':
		r->options.flight_recorder = 1;
		return 0;
	case 'S':
		r->options.syscalls = value;
		return check_syscalls(value);
	case 'K':
		return take_events(r, value);
	case 'J':
		return java_families_parse(value, &r->java);
	case 'k':
		r->stacks = true;
		return java_stacks_parse(value, &r->options.stack_threshold_ns);
	case 'a':
		return cli_parse_size("allocations", value, &r->options.allocation_interval);
	case 'm':
		return methods_list_add(&r->methods, "--methods", value, NULL);
	case 'l':
		return methods_list_add(&r->methods, "--mark", value, "mark:");
	case 'Y':
		return arguments_list_add(&r->methods, value);
	case 'Z':
		r->argument_strings = value;
		return 0;
	case 'g':
		return cli_parse_u32("methods-budget", value, 0, 100, &r->options.methods_budget);
	case 'j':
		r->jni_probes = true;
		r->options.no_patch = 1;
		return 0;
	case 'Q':
		r->options.no_patch = 1;
		return 0;
	case 'y':
		r->options.methods_dry_run = 1;
		return 0;
	case 'N':
		r->no_agent = true;
		return 0;
	case 'W':
		r->options.no_rewrite = 1;
		return 0;
	case 'q':
		cli_quiet = true;
		return 0;
	case 'V':
		r->options.no_vm_states = 1;
		return 0;
	case 'U':
		r->options.no_uprobes = 1;
		return 0;
	default:
		r->all |= opt == 'X';
		return targets_option(&r->targets, opt, value);
	}
}

/* Returns -1 to go on, or the exit status. */
static int parse(struct record *r, int argc, char **argv)
{
	static const struct option options[] = {
		{"output", required_argument, NULL, 'o'},
		{"user", required_argument, NULL, 'u'},
		{"backend", required_argument, NULL, 'B'},
		{"clock", required_argument, NULL, 'C'},
		{"duration", required_argument, NULL, 'D'},
		{"buffer", required_argument, NULL, 'b'},
		{"pool", required_argument, NULL, 'L'},
		{"max-size", required_argument, NULL, 'M'},
		{"flush", required_argument, NULL, 'f'},
		{"all-switches", no_argument, NULL, 'A'},
		{"flight-recorder", no_argument, NULL, 'R'},
		{"syscalls", required_argument, NULL, 'S'},
		{"events", required_argument, NULL, 'K'},
		{"java", required_argument, NULL, 'J'},
		{"stacks", required_argument, NULL, 'k'},
		{"allocations", required_argument, NULL, 'a'},
		{"methods", required_argument, NULL, 'm'},
		{"mark", required_argument, NULL, 'l'},
		{"arguments", required_argument, NULL, 'Y'},
		{"argument-strings", required_argument, NULL, 'Z'},
		{"methods-dry-run", no_argument, NULL, 'y'},
		{"jni-probes", no_argument, NULL, 'j'},
		{"no-patch", no_argument, NULL, 'Q'},
		{"methods-budget", required_argument, NULL, 'g'},
		{"no-agent", no_argument, NULL, 'N'},
		{"no-rewrite", no_argument, NULL, 'W'},
		{"no-vm-states", no_argument, NULL, 'V'},
		{"no-uprobes", no_argument, NULL, 'U'},
		TARGETS_OPTIONS,
		{"quiet", no_argument, NULL, 'q'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int opt;

	while ((opt = cli_getopt(argc, argv, "+:o:p:u:qh", options)) != -1) {
		if (opt == 'h') {
			fputs(help, stdout);
			return CLI_OK;
		}
		if (take_option(r, opt, optarg))
			return CLI_USAGE;
	}
	if (optind < argc)
		r->command = argv + optind;
	if (r->options.allocation_interval)
		r->java |= JIS_FEATURE_ALLOCATIONS | JIS_FEATURE_THREADS;
	else if (r->java & JIS_FEATURE_ALLOCATIONS)
		r->options.allocation_interval = ALLOCATIONS_DEFAULT;
	if (r->stacks)
		r->java |= JIS_FEATURE_STACKS | JIS_FEATURE_THREADS;
	else if (r->java & JIS_FEATURE_STACKS)
		r->options.stack_threshold_ns = STACKS_DEFAULT_NS;
	if (r->argument_strings && !r->methods) {
		cli_error("--argument-strings: without --arguments there are none");
		return CLI_USAGE;
	}
	if (r->argument_strings && argument_strings_add(&r->methods, r->argument_strings))
		return CLI_USAGE;
	r->options.methods = r->methods;
	return targets_check(&r->targets, r->command != NULL) ? CLI_USAGE : -1;
}

static char *command_line(char **argv)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	for (int i = 0; argv[i]; i++)
		fprintf(f, "%s%s", i ? " " : "", argv[i]);
	fclose(f);
	return text;
}

/* The agent's path for JAVA_TOOL_OPTIONS; without it the kernel side is still recorded. */
static const char *prepare_agent(struct record *r)
{
	char why[512];

	if (r->no_agent)
		return NULL;
	if (!agent_copy_find(&r->agent, &r->user, why, sizeof(why)))
		return r->agent.path;
	cli_warn("JVMs will run without the agent, so only their kernel side is recorded: %s", why);
	return NULL;
}

static int start_command(struct record *r)
{
	struct launch_env env = {.socket = jisctl_session_socket(r->session),
				 .agent = prepare_agent(r),
				 .no_rewrite = r->options.no_rewrite,
				 .jni_probes = r->jni_probes,
				 .no_patch = r->options.no_patch};
	int err = launch_fork(&r->child, r->command, &r->user, &env);

	if (err) {
		cli_error("cannot fork: %s", strerror(-err));
		return CLI_FAILED;
	}
	err = targets_add(&r->targets, r->session, r->child.pid);
	if (!err) {
		err = jisctl_session_start(r->session);
		if (err)
			cli_error("cannot start recording: %s", strerror(-err));
	}
	if (err) {
		close(r->child.go_fd);
		return CLI_FAILED;
	}
	err = launch_go(&r->child);
	if (err) {
		cli_error("%s: cannot be run as %s: %s", r->command[0], r->user.name,
			  strerror(-err));
		return err == -ENOENT ? CLI_NOT_FOUND : 126;
	}
	return CLI_OK;
}

static int start_pids(struct record *r)
{
	int err;

	if (targets_add(&r->targets, r->session, 0))
		return CLI_FAILED;
	err = jisctl_session_start(r->session);
	if (err)
		cli_error("cannot start recording: %s", strerror(-err));
	return err ? CLI_FAILED : CLI_OK;
}

/*
 * To JVMs that run already, and are recorded as somebody has named them; not to each JVM of the
 * machine.
 */
static void attach_running(struct record *r)
{
	if (r->no_agent || r->all || r->command)
		return;
	if (!r->options.agent)
		cli_warn("running JVMs are not attached to, so only their kernel side is recorded: "
			 "libjisagent.so is neither beside the jis program nor in ../lib/jis");
	else
		jisctl_session_attach_all(r->session);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void reap(struct record *r)
{
	int status;

	if (!child_signalled || !r->command || r->ended)
		return;
	child_signalled = 0;
	if (waitpid(r->child.pid, &status, WNOHANG) != r->child.pid)
		return;
	r->ended = true;
	r->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* A signal from a process reaches only us: the command gets each of them too. */
static void forward_signal(struct record *r)
{
	static sig_atomic_t forwarded;

	if (signals_got == forwarded)
		return;
	forwarded = signals_got;
	if (last_signal)
		kill(r->child.pid, last_signal);
}

/* What ends the recording now, or NULL. */
static const char *end_reason(struct record *r, uint64_t deadline)
{
	struct jisctl_counts counts = {.size = sizeof(counts)};

	reap(r);
	if (r->ended)
		return "command ended";
	if (signals_got && (!r->command || signals_got > 1))
		return "interrupted";
	forward_signal(r);
	if (deadline && now_ns() >= deadline)
		return "duration";
	if (!r->command && !jisctl_session_counts(r->session, &counts) && !counts.targets)
		return "processes ended";
	return NULL;
}

static int record_loop(struct record *r)
{
	uint64_t deadline = r->duration_ns ? now_ns() + r->duration_ns : 0, now;
	int timeout, err;

	for (;;) {
		r->reason = end_reason(r, deadline);
		if (r->reason)
			return 0;
		timeout = 250;
		now = now_ns();
		if (deadline && deadline > now && deadline - now < 250000000u)
			timeout = (int)((deadline - now) / 1000000u) + 1;
		err = jisctl_session_run(r->session, timeout);
		if (err == 1) {
			r->reason = jisctl_session_end_reason(r->session);
			if (!r->reason)
				r->reason = "ended by the session";
			if (!strcmp(r->reason, "max-size"))
				cli_warn("--max-size reached: the recording ends here");
			return 0;
		}
		if (err) {
			r->reason = err == -ENOSPC ? "disk full" : "write error";
			cli_error("%s: cannot write: %s; what was recorded until now is kept",
				  r->options.directory, strerror(-err));
			return err;
		}
	}
}

/* After the recording: wait for a command that still runs. */
static void wait_command(struct record *r)
{
	if (!r->command || r->ended)
		return;
	if (!strcmp(r->reason, "interrupted")) {
		kill(r->child.pid, SIGTERM);
		cli_note("the command was sent SIGTERM and is left to itself");
		r->status = 130;
		return;
	}
	cli_note("the recording has ended; waiting for the command (Ctrl-C ends it)");
	do {
		forward_signal(r);
		child_signalled = 1;
		reap(r);
		if (!r->ended)
			poll(NULL, 0, 250); /* a signal ends it, were it the child's */
	} while (!r->ended);
}

static int record_session(struct record *r)
{
	int err, stop_err, status;

	if (signals_got) {
		cli_error("interrupted before the recording began");
		status = 128 + (last_signal ? last_signal : SIGINT);
	} else {
		status = r->command ? start_command(r) : start_pids(r);
	}
	if (!status)
		attach_running(r);
	if (status) { /* nothing was run: nothing is left behind */
		jisctl_session_discard(r->session);
		return status;
	}
	cli_note("recording into %s with the %s backend%s", r->options.directory,
		 jisctl_session_backend(r->session), r->command ? "" : "; Ctrl-C ends it");
	err = record_loop(r);
	stop_err = jisctl_session_stop(r->session, r->reason);
	if (stop_err && !err)
		cli_error("%s: the trace could not be completed: %s", r->options.directory,
			  strerror(-stop_err));
	record_summary(r->options.directory, r->session, r->command && !r->no_agent);
	if (r->methods && !err && !stop_err)
		methods_save(r->options.directory);
	if (r->options.methods_dry_run && !err && !stop_err)
		methods_print(r->options.directory);
	wait_command(r);
	if (err || stop_err)
		return CLI_FAILED;
	return r->command ? r->status : CLI_OK;
}

/* Who called sudo may read what is recorded for him. */
static void share_with_caller(struct record *r)
{
	const char *gid = getenv("SUDO_GID");
	char *end = NULL;
	unsigned long number = gid ? strtoul(gid, &end, 10) : 0;

	if (geteuid() != 0 || !gid || !*gid || *end || number >= UINT32_MAX)
		return;
	r->options.set_group = 1;
	r->options.group = (gid_t)number;
}

static int check_command(struct record *r)
{
	char path[PATH_MAX];

	if (!r->command)
		return CLI_OK;
	if (launch_find(r->command[0], path)) {
		cli_error("%s: %s", r->command[0],
			  errno == ENOENT ? "command not found" : strerror(errno));
		return errno == ENOENT ? CLI_NOT_FOUND : 126;
	}
	return launch_user_find(r->user_name, &r->user) ? CLI_USAGE : CLI_OK;
}

int cmd_record(int argc, char **argv)
{
	struct record r = {
		.options = {.size = sizeof(r.options),
			    .directory = "jis-trace",
			    .log = on_log,
			    .methods_budget = METHODS_BUDGET},
		.java = JIS_FEATURES_DEFAULT,
	};
	char *text = NULL;
	int err, status;

	r.options.java = &r.java;
	status = parse(&r, argc, argv);
	if (status >= 0)
		return status;
	status = check_command(&r);
	if (status)
		return status;
	if (geteuid() != 0 && access("/dev/jis", R_OK | W_OK)) {
		cli_error("needs root to see what the kernel does with threads; use sudo (the "
			  "command "
			  "still runs as you)");
		return CLI_FAILED;
	}
	text = r.command ? command_line(r.command) : NULL;
	r.options.command = text;
	share_with_caller(&r);
	if (!agent_installed(r.agent_library))
		r.options.agent = r.agent_library;
	launch_raise_files();
	watch_signals(); /* from here on there is something to clean up */
	err = jisctl_session_create(&r.options, &r.session);
	if (err) {
		cli_error("cannot record into %s: %s%s", r.options.directory,
			  err == -EEXIST  ? "it exists and is not empty"
			  : err == -EBUSY ? "another recording is under way there"
					  : strerror(-err),
			  err == -EEXIST || err == -EBUSY ? "; choose another with -o"
			  : err == -ENODEV		  ? "; jis doctor says what is missing"
							  : "");
		free(text);
		return CLI_FAILED;
	}
	signalled_session = r.session;
	status = record_session(&r);
	signalled_session = NULL;
	jisctl_session_destroy(r.session);
	agent_copy_remove(&r.agent);
	free(text);
	free(r.methods);
	return status;
}
