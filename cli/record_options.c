/* SPDX-License-Identifier: MIT */
/*
 * The command line of `jis record`: options in, what is to be recorded and how out. Opens nothing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include <jis/agent.h>

#include "cli.h"
#include "java_families.h"
#include "libjisctl/syscalls.h"
#include "methods_list.h"
#include "record.h"

static const char help[] =
	"usage: jis record [OPTION]... -- COMMAND [ARGUMENT]...\n"
	"       jis record [OPTION]... -p PID [-p PID]...\n"
	"       jis record [OPTION]... --cgroup PATH | --executable NAME | --tid TID | --all\n"
	"       jis record --join DIR [OPTION]... -- COMMAND [ARGUMENT]...\n\n"
	"Runs COMMAND and records what the kernel did with its threads and those of its children, "
	"and\n"
	"what every JVM among them tells (thread names, GC, markers); or does so with running "
	"processes,\n"
	"attaching to the JVMs among them. Needs root; COMMAND runs as the user who called "
	"sudo.\n\n"
	"  -o, --output DIR      trace directory (default jis-trace; must be new or empty)\n"
	"      --join DIR        run COMMAND as a part of the recording under way in DIR; with it\n"
	"                        only --name, --follow, --user, --no-agent and --quiet\n"
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
	"      --no-jvm-flags    set no flag of JVMs to make that cheaper\n"
	"      --no-patch        do not patch the code by which JVMs call natives\n"
	"      --no-link         do not have JVMs call them by their foreign linker\n"
	"      --jni-probes      all three: calls are recorded by what JNI has\n"
	"      --no-agent        kernel side only\n"
	"      --no-rewrite      change no class of JVMs: JVMTI's own events only\n"
	"      --no-vm-states    do not record the JVM's own states of its threads\n"
	"      --no-uprobes      safepoints from the JVM's log, not by probes in its code\n"
	"  -q, --quiet           say only what went wrong\n"
	"  -h, --help            this text\n\n"
	"Ctrl-C goes to COMMAND too; the recording ends with it. A second Ctrl-C ends it at once.\n"
	"The exit status is COMMAND's, 127 when it was not found, 1 when recording failed.\n";

#define ALLOCATIONS_DEFAULT (512u << 10) /* --java allocations: the JVM's own default */
#define STACKS_DEFAULT_NS 1000000u	 /* --java stacks */

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

/* Those of --methods and its kin; the others are targets_option()'s. */
static int take_methods_option(struct record *r, int opt, const char *value)
{
	switch (opt) {
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
	case 'H':
		r->no_jvm_flags = true;
		r->options.no_patch |= opt == 'j';
		r->options.no_link |= opt == 'j';
		return 0;
	case 'Q':
		r->options.no_patch = 1;
		return 0;
	case 'x':
		r->options.no_link = 1;
		return 0;
	case 'y':
		r->options.methods_dry_run = 1;
		return 0;
	default:
		r->all |= opt == 'X';
		return targets_option(&r->targets, opt, value);
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
		r->command.user_name = value;
		return 0;
	case 'I':
		if (!*value)
			cli_error("--join: the name of the trace directory is empty");
		r->join = value;
		return *value ? 0 : -1;
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
		return take_methods_option(r, opt, value);
	}
}

/* All else is the recording's, whose recorder has its own command line. */
static bool belongs_to_join(int opt)
{
	return strchr("InFuNq", opt) != NULL;
}

static int check_join(const struct record *r, const char *foreign)
{
	if (foreign) {
		cli_error("--join: --%s is for the jis record that began the recording", foreign);
		return CLI_USAGE;
	}
	if (r->command.argv)
		return -1;
	cli_error("--join: join with what? give -- COMMAND; jis attach -o %s PID brings in a JVM "
		  "that runs",
		  r->join);
	return CLI_USAGE;
}

/* What options mean together. */
static int conclude(struct record *r)
{
	if (r->options.allocation_interval)
		r->java |= JIS_FEATURE_ALLOCATIONS;
	else if (r->java & JIS_FEATURE_ALLOCATIONS)
		r->options.allocation_interval = ALLOCATIONS_DEFAULT;
	if (r->stacks)
		r->java |= JIS_FEATURE_STACKS;
	else if (r->java & JIS_FEATURE_STACKS)
		r->options.stack_threshold_ns = STACKS_DEFAULT_NS;
	r->java = java_families_complete(r->java);
	if (r->argument_strings && !r->methods) {
		cli_error("--argument-strings: without --arguments there are none");
		return CLI_USAGE;
	}
	if (r->argument_strings && argument_strings_add(&r->methods, r->argument_strings))
		return CLI_USAGE;
	r->options.methods = r->methods;
	snprintf(r->agent_options, sizeof(r->agent_options), "%s%s%s%s",
		 r->options.no_rewrite ? "norewrite," : "", r->no_jvm_flags ? "noflags," : "",
		 r->options.no_patch ? "nopatch," : "", r->options.no_link ? "nolink" : "");
	r->options.agent_options = r->no_agent ? NULL : r->agent_options;
	return targets_check(&r->targets, r->command.argv != NULL) ? CLI_USAGE : -1;
}

int record_parse(struct record *r, int argc, char **argv)
{
	static const struct option options[] = {
		{"output", required_argument, NULL, 'o'},
		{"join", required_argument, NULL, 'I'},
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
		{"no-jvm-flags", no_argument, NULL, 'H'},
		{"no-patch", no_argument, NULL, 'Q'},
		{"no-link", no_argument, NULL, 'x'},
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
	const char *foreign = NULL;
	int opt, i;

	while ((opt = cli_getopt(argc, argv, "+:o:p:u:qh", options)) != -1) {
		if (opt == 'h') {
			fputs(help, stdout);
			return CLI_OK;
		}
		if (take_option(r, opt, optarg))
			return CLI_USAGE;
		for (i = 0; !belongs_to_join(opt) && options[i].name; i++)
			if (options[i].val == opt)
				foreign = options[i].name;
	}
	if (optind < argc)
		r->command.argv = argv + optind;
	return r->join ? check_join(r, foreign) : conclude(r);
}
