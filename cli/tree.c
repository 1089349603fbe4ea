/* SPDX-License-Identifier: MIT */
/*
 * `jis tree`: calls of methods and remote calls as a tree, across JVMs. Builds the tree's files
 * from a trace, or reads those that were built.
 */
#include "tree.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calltree/tree.h"
#include "cli.h"

static const char usage[] = "jis tree [OPTION]... DIR|FILE.jta";
static const char help[] =
	"usage: jis tree [OPTION]... DIR|FILE.jta\n\n"
	"Prints the calls of a recording as a tree: calls of traced methods, remote calls (RMI), "
	"and in\n"
	"those what the other JVM did. Children stand in the order in which they ended.\n\n"
	"  -o, --output PREFIX   keep the tree: PREFIX.jta, PREFIX.mth (names), PREFIX.stt "
	"(statistics)\n"
	"      --profiles        ... and for each JVM its calls as text: PREFIX.JVM.prf, .clp, "
	".svp, "
	".mrg\n"
	"      --depth N         at most N levels below the first (default 0: all)\n"
	"      --lines N         at most N lines (default 1000, 0: all; --json: all)\n"
	"      --order end|begin children in the order of their ends (default) or begins\n"
	"      --longer TIME     without calls shorter than that, and what is in them\n"
	"      --internal        also calls of the registry, the activator, distributed garbage\n"
	"                        collection and JMX\n"
	"      --incoming        under each JVM also the calls it served, which are in its "
	"clients'\n"
	"      --open NUMBER     what is in that record\n"
	"      --path NUMBER     what that record is in, outermost first\n"
	"      --find TEXT       all calls of methods whose name has TEXT in it; with --open below "
	"there\n"
	"      --breadth         ... level by level, not branch by branch\n"
	"      --json            a record a line as JSON, times in ns\n"
	"      --from TIME       without what ended before (offset from the recording's start)\n"
	"      --to TIME         without what began later\n"
	"      --thread TEXT     only what threads did whose name contains TEXT, or whose tid it "
	"is\n"
	"      --process TEXT    JVMs whose name contains TEXT, or whose pid it is\n"
	"  -q, --quiet           no progress and no notes\n"
	"  -h, --help            this text\n";

/* Building ----------------------------------------------------------------------------------- */

static volatile sig_atomic_t stopped_by;

static void on_stop(int signal)
{
	stopped_by = signal;
}

/* What was made goes before a signal ends us; one that is ignored stays so. */
static void stops_catch(bool on)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	static struct sigaction before[sizeof(signals) / sizeof(signals[0])];
	static bool caught;
	const struct sigaction action = {.sa_handler = on_stop};

	if (on == caught)
		return;
	caught = on;
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		if (on)
			sigaction(signals[i], NULL, &before[i]);
		if (before[i].sa_handler != SIG_IGN)
			sigaction(signals[i], on ? &action : &before[i], NULL);
	}
}

/* Where it is kept, or a place of its own that goes afterwards. */
static char *prefix_get(const char *output, char **scratch)
{
	const char *tmp = getenv("TMPDIR");
	char *prefix = NULL;

	*scratch = NULL;
	if (output)
		return strdup(output);
	if (asprintf(scratch, "%s/jis-tree.XXXXXX", tmp && *tmp ? tmp : "/tmp") < 0) {
		*scratch = NULL;
		return NULL;
	}
	if (!mkdtemp(*scratch)) {
		cli_error("%s: %s: TMPDIR names a place for files that go afterwards, -o one for "
			  "files that stay",
			  *scratch, strerror(errno));
		free(*scratch);
		*scratch = NULL;
		return NULL;
	}
	if (asprintf(&prefix, "%s/tree", *scratch) < 0)
		return NULL;
	return prefix;
}

static void scratch_remove(const char *prefix, char *scratch)
{
	static const char *const suffixes[] = {"jta", "mth", "stt"};
	char *path;

	if (!scratch)
		return;
	for (size_t i = 0; prefix && i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		if (asprintf(&path, "%s.%s", prefix, suffixes[i]) < 0)
			continue;
		unlink(path);
		free(path);
	}
	rmdir(scratch);
}

static void tell_counts(const struct calltree_counts *c)
{
	cli_note("%" PRIu64 " calls of methods, %" PRIu64 " remote calls (%" PRIu64
		 " of them the JDK's own), %" PRIu64 " served, %" PRIu64 " of them linked",
		 c->methods, c->remote, c->internal, c->served, c->linked);
	if (c->late)
		cli_note("%" PRIu64
			 " calls began before they were recorded: what they called until "
			 "then stands beside them",
			 c->late);
	if (!c->methods && !c->remote && !c->served)
		cli_warn("no calls were recorded; jis record --methods and --java rmi do");
}

/* Returns 0 or -errno; *told: that has been said. */
static int build_with(const struct model_options *options, const char *path, const char *prefix,
		      bool profiles, int *status, bool *told)
{
	const struct model_sink *sinks[1];
	struct calltree *tree;
	struct model *m;
	int err = model_open(path, options, &m);

	if (err) {
		cli_trace_error(path, err);
		*told = true;
		return err;
	}
	tree = calltree_new(m, prefix, profiles, &err);
	if (tree) {
		sinks[0] = calltree_sink(tree);
		err = model_run(m, sinks, 1);
		cli_progress_done();
	}
	if (!err) {
		tell_counts(calltree_counts(tree));
		cli_warn_deep(m);
		*status = cli_warn_losses(model_info(m)->manifest);
	}
	calltree_delete(tree);
	model_close(m);
	return err;
}

/* @ctx: options with the progress that is shown. */
static int stop_or_go_on(void *ctx, uint64_t done, uint64_t total)
{
	const struct model_options *shown = ctx;

	if (stopped_by)
		return 1;
	return shown->progress ? shown->progress(shown->progress_ctx, done, total) : 0;
}

static int build(const char *path, const char *prefix, bool profiles, int *status)
{
	struct model_options shown = {0},
			     options = {.progress = stop_or_go_on, .progress_ctx = &shown};
	bool told = false;
	int err;

	cli_progress_enable(&shown);
	err = build_with(&options, path, prefix, profiles, status, &told);
	if (err == -EAGAIN) { /* records are missing, and nobody knew */
		options.contexts = true;
		err = build_with(&options, path, prefix, profiles, status, &told);
	}
	if (stopped_by)
		err = -EINTR; /* not shown either */
	if (err && !told && err != -EINTR)
		cli_error("%s: the tree cannot be made in %s: %s%s", path, prefix, strerror(-err),
			  err == -ENOSPC ? ": -o PREFIX, or TMPDIR, names another place" : "");
	return err ? CLI_FAILED : CLI_OK;
}

/* Showing ------------------------------------------------------------------------------------ */

static const char *open_error(int err)
{
	switch (err) {
	case -EBADMSG:
		return "this is no call tree, or it is damaged; jis tree -o PREFIX DIR makes one";
	case -EPROTONOSUPPORT:
		return "it was made by another version; make it again: jis tree -o PREFIX DIR";
	case -ENODATA:
		return "it is cut off; make it again: jis tree -o PREFIX DIR";
	}
	return strerror(-err);
}

/* @scratch: the tree goes when it is open, so that nothing stays if printing is cut short. */
static int show(const char *file, const char *prefix, char *scratch, struct tree_view *v)
{
	struct jta_names *names = NULL;
	struct jta *tree = NULL;
	int err = jta_open(file, &tree);

	if (err) {
		cli_error("%s: %s", file, open_error(err));
		return CLI_FAILED;
	}
	err = jta_names_open(file, &names);
	scratch_remove(prefix, scratch);
	stops_catch(false);
	if (stopped_by) {
		err = -EINTR;
	} else if (err) {
		cli_error("%s: the names, in the .mth file beside it: %s", file,
			  err == -EBADMSG ? "this is no such file" : strerror(-err));
	} else {
		v->tree = tree;
		v->names = names;
		err = tree_print(v);
		if (err == -ENOENT)
			cli_error("%s: there are records 1 to %" PRIu64, file,
				  jta_header(tree)->records);
		else if (err)
			cli_error("%s: %s", file, open_error(err));
		else if (v->more)
			cli_note("there are more lines (--lines 0 shows all, --depth and --longer "
				 "fewer)");
	}
	jta_names_close(names);
	jta_close(tree);
	return err ? CLI_FAILED : CLI_OK;
}

static bool is_tree_file(const char *path)
{
	size_t length = strlen(path);

	return length > 4 && !strcmp(path + length - 4, ".jta");
}

static int run(const char *path, const char *output, bool profiles, struct tree_view *v)
{
	char *scratch, *prefix, *file = NULL;
	int status = CLI_FAILED, losses = CLI_OK;

	if (is_tree_file(path)) {
		if (!output)
			return show(path, NULL, NULL, v);
		cli_error("-o: %s is a tree already", path);
		return CLI_USAGE;
	}
	stops_catch(true); /* before there is anything that would stay */
	prefix = prefix_get(output, &scratch);
	if (prefix && asprintf(&file, "%s.jta", prefix) >= 0) {
		status = build(path, prefix, profiles, &losses);
		/* Who keeps it and asks for nothing is not shown it. */
		if (status == CLI_OK && (!output || v->open || v->path || v->find || v->json))
			status = show(file, prefix, scratch, v);
		free(file);
	}
	scratch_remove(prefix, scratch);
	free(scratch);
	free(prefix);
	stops_catch(false);
	if (stopped_by)
		raise(stopped_by);
	return status == CLI_OK ? losses : status;
}

/* The command -------------------------------------------------------------------------------- */

static int parse_number(const char *option, const char *text, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !errno && !*end && *out)
		return 0;
	cli_error("--%s: \"%s\" is no record's number: the first column has those", option, text);
	return -1;
}

static int parse_order(const char *text, bool *by_begin)
{
	*by_begin = !strcmp(text, "begin");
	if (*by_begin || !strcmp(text, "end"))
		return 0;
	cli_error("--order: \"%s\" is neither end nor begin", text);
	return -1;
}

enum {
	OPT_DEPTH = 256,
	OPT_LINES,
	OPT_ORDER,
	OPT_LONGER,
	OPT_INTERNAL,
	OPT_INCOMING,
	OPT_OPEN,
	OPT_PATH,
	OPT_FIND,
	OPT_BREADTH,
	OPT_JSON
};

static int take_option(struct tree_view *v, struct reading_options *reading, int opt)
{
	switch (opt) {
	case OPT_DEPTH:
		return cli_parse_u32("depth", optarg, 0, UINT32_MAX, &v->depth);
	case OPT_LINES:
		return cli_parse_u32("lines", optarg, 0, UINT32_MAX, &v->lines);
	case OPT_ORDER:
		return parse_order(optarg, &v->by_begin);
	case OPT_LONGER:
		return cli_parse_duration("longer", optarg, &v->longer);
	case OPT_INTERNAL:
		v->internal = true;
		return 0;
	case OPT_INCOMING:
		v->incoming = true;
		return 0;
	case OPT_OPEN:
		return parse_number("open", optarg, &v->open);
	case OPT_PATH:
		return parse_number("path", optarg, &v->path);
	case OPT_FIND:
		v->find = optarg;
		return 0;
	case OPT_BREADTH:
		v->breadth = true;
		return 0;
	case OPT_JSON:
		v->json = true;
		return 0;
	}
	return reading_option(reading, opt, optarg) == 1 ? 0 : -1;
}

int cmd_tree(int argc, char **argv)
{
	static const struct option options[] = {{"output", required_argument, NULL, 'o'},
						{"profiles", no_argument, NULL, 'p'},
						{"depth", required_argument, NULL, OPT_DEPTH},
						{"lines", required_argument, NULL, OPT_LINES},
						{"order", required_argument, NULL, OPT_ORDER},
						{"longer", required_argument, NULL, OPT_LONGER},
						{"internal", no_argument, NULL, OPT_INTERNAL},
						{"incoming", no_argument, NULL, OPT_INCOMING},
						{"open", required_argument, NULL, OPT_OPEN},
						{"path", required_argument, NULL, OPT_PATH},
						{"find", required_argument, NULL, OPT_FIND},
						{"breadth", no_argument, NULL, OPT_BREADTH},
						{"json", no_argument, NULL, OPT_JSON},
						CLI_READING_OPTIONS,
						{NULL, 0, NULL, 0}};
	struct tree_view v = {.lines = UINT32_MAX};
	struct reading_options reading = {0};
	const char *path, *output = NULL;
	bool profiles = false;
	int opt;

	while ((opt = cli_getopt(argc, argv, ":o:qh", options)) != -1) {
		if (opt == 'h') {
			fputs(help, stdout);
			return CLI_OK;
		}
		if (opt == 'o')
			output = optarg;
		else if (opt == 'p')
			profiles = true;
		else if (take_option(&v, &reading, opt))
			return CLI_USAGE;
	}
	path = cli_directory(argc, argv, usage);
	if (!path || !reading_window_valid(&reading))
		return CLI_USAGE;
	if (v.breadth && !v.find) {
		cli_error("--breadth: only with --find");
		return CLI_USAGE;
	}
	if (profiles && !output) {
		cli_error("--profiles: only with -o, which says where");
		return CLI_USAGE;
	}
	if (v.lines == UINT32_MAX)
		v.lines = v.json ? 0 : 1000;
	v.from = reading.model.from;
	v.to = reading.model.to;
	v.thread = reading.model.thread;
	v.process = reading.model.process;
	return run(path, output, profiles, &v);
}
