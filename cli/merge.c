/* SPDX-License-Identifier: MIT */
/*
 * `jis merge`: sessions of several hosts, or JVMs, made one trace on one clock.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "hosts/merge.h"
#include "libjisctl/jisctl.h"
#include "trace/write.h"

static const char usage[] = "jis merge [OPTION]... DIR DIR... -o OUT";
static const char help[] =
	"usage: jis merge [OPTION]... DIR DIR... -o OUT\n\n"
	"Puts recordings of several hosts, or several of one, together into one trace on one "
	"clock.\n"
	"Their clocks need not be synchronised: how they differ is found from the remote calls\n"
	"between them, with an error bound. The first DIR's clock is the one that all get.\n\n"
	"  -o, --output DIR  the trace to write (must be new or empty)\n"
	"  -q, --quiet       no progress and no notes\n"
	"  -h, --help        this text\n";

struct merging {
	const char *out;
	bool made; /* the directory is ours */
	int fd;
	struct hosts_merge merge;
};

/* The directory -------------------------------------------------------------------------------- */

static bool is_empty(int fd)
{
	int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = again >= 0 ? fdopendir(again) : NULL;
	const struct dirent *e;
	bool empty = d != NULL;

	while (empty && (e = readdir(d)))
		empty = !strcmp(e->d_name, ".") || !strcmp(e->d_name, "..");
	if (d)
		closedir(d);
	else if (again >= 0)
		close(again);
	return empty;
}

static int out_open(struct merging *g)
{
	g->made = !mkdir(g->out, TRACE_DIRECTORY_MODE);
	if (!g->made && errno != EEXIST) {
		cli_error("%s: the directory cannot be made: %s", g->out, strerror(errno));
		return CLI_FAILED;
	}
	g->fd = open(g->out, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (g->fd < 0) {
		cli_error("%s: %s", g->out, strerror(errno));
		return CLI_FAILED;
	}
	if (is_empty(g->fd))
		return CLI_OK;
	cli_error("%s: it exists and is not empty; choose another with -o", g->out);
	close(g->fd);
	g->fd = -1;
	return CLI_FAILED;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	if (!at->level)
		return 0;
	return type == FTW_DP ? rmdir(path) : unlink(path);
}

/* What was begun and is no trace. The directory may be behind a link, which stays. */
static void out_drop(struct merging *g)
{
	char *inside;

	if (asprintf(&inside, "%s/.", g->out) >= 0) {
		nftw(inside, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
		free(inside);
	}
	if (g->made)
		rmdir(g->out);
}

/* What was found ------------------------------------------------------------------------------- */

static const char *name_of(const struct merging *g, uint32_t i)
{
	return g->merge.sessions[i].path;
}

static void tell_clock(const struct merging *g, uint32_t i)
{
	const struct aligned *a = &g->merge.aligned[i];
	char error[32];

	switch (a->clock) {
	case HOST_CLOCK_REFERENCE:
		cli_note("%s: its clock is the reference", name_of(g, i));
		break;
	case HOST_CLOCK_SAME:
		cli_note("%s: the same clock as %s", name_of(g, i), name_of(g, a->parent));
		break;
	case HOST_CLOCK_CALLS:
		if (a->fit.error == CLOCK_FIT_NO_ERROR) {
			cli_warn("%s: its clock is known by %" PRIu64
				 " calls with %s from one side "
				 "only: how exactly is not known",
				 name_of(g, i), a->calls, name_of(g, a->parent));
			break;
		}
		cli_note("%s: its clock is known by %" PRIu64 " calls with %s to +-%s (at half of "
			 "them), and gains %.3f ppm",
			 name_of(g, i), a->calls, name_of(g, a->parent),
			 cli_format_ns(error, sizeof(error), a->fit.error), a->fit.drift * 1e6);
		break;
	default:
		cli_warn("%s: no remote call leads to another session: its times are as its time "
			 "of day had it, which may be wrong by any amount",
			 name_of(g, i));
	}
}

static void tell_steps(struct merging *g, uint32_t i)
{
	const struct aligned *a = &g->merge.aligned[i];

	for (uint32_t k = 0; k < a->fit.nr_steps; k++) {
		const struct clock_step *s = &a->fit.steps[k];

		cli_warn("%s: its clock, or that of %s, was set between %.6f s and %.6f s: it went "
			 "%.6f ms %s; what was recorded between them may be wrong by that",
			 name_of(g, i), name_of(g, a->parent),
			 hosts_merge_seconds(&g->merge, i, s->from),
			 hosts_merge_seconds(&g->merge, i, s->to),
			 (double)(s->by < 0 ? -s->by : s->by) / 1e6,
			 s->by < 0 ? "back" : "forward");
	}
	if (a->fit.nr_bends)
		cli_note("%s: its rate changed %u times", name_of(g, i), a->fit.nr_bends);
}

static void tell(struct merging *g)
{
	const struct align_check *c = &g->merge.check;
	char by[32];

	for (uint32_t i = 0; i < g->merge.nr; i++) {
		tell_clock(g, i);
		tell_steps(g, i);
	}
	cli_note("%" PRIu64 " remote calls lead from one session to another%s", c->calls,
		 g->merge.thin > 1 ? " (of those that were looked at)" : "");
	if (c->ambiguous)
		cli_warn("%" PRIu64
			 " ends of remote calls have a UID that two others have as well, "
			 "and say nothing",
			 c->ambiguous);
	if (c->backward)
		cli_warn(
			"%" PRIu64 " of %" PRIu64 " calls between sessions would be served before "
			"they are sent, or answered after that, by %s at most: clocks were set, or "
			"are known by different ways that do not agree",
			c->backward, c->calls, cli_format_ns(by, sizeof(by), c->backward_ns));
	if (g->merge.damages)
		cli_warn("%" PRIu64
			 " damaged places of the sessions are missing in %s, as they were: "
			 "jis info %s lists them",
			 g->merge.damages, g->out, g->out);
	if (g->merge.before)
		cli_warn("%" PRIu64 " times, of what began long before the recordings, are earlier "
			 "than the clock of %s begins: there they are its begin",
			 g->merge.before, g->out);
}

/* The command ---------------------------------------------------------------------------------- */

static int refused(const struct merging *g, uint32_t failed, enum merge_refusal why)
{
	const char *path = name_of(g, failed);

	switch (why) {
	case MERGE_ALREADY:
		cli_error("%s: is made of several sessions itself; give those", path);
		break;
	case MERGE_TWICE:
		cli_error("%s: is there twice, or a copy of another", path);
		break;
	case MERGE_MACHINE:
		cli_error(
			"%s: of another kind of machine than %s, on which system calls have other "
			"numbers: such cannot be put together",
			path, name_of(g, 0));
		break;
	case MERGE_CLOCK:
		cli_error("%s: its times are none that a clock could have: its manifest.json is "
			  "damaged",
			  path);
		break;
	default:
		cli_error("%s: with it there are more CPUs than a trace can have (65535)", path);
	}
	return CLI_FAILED;
}

static int merge_out(struct merging *g)
{
	uint32_t failed;
	int status = out_open(g), err;

	if (status)
		return status;
	err = hosts_merge_write(&g->merge, g->fd, jisctl_version(), &failed);
	close(g->fd);
	if (!err) {
		tell(g);
		return CLI_OK;
	}
	if (failed < g->merge.nr)
		cli_error("%s: cannot be read: %s", name_of(g, failed), strerror(-err));
	else
		cli_error("%s: cannot be written: %s", g->out, strerror(-err));
	out_drop(g);
	return CLI_FAILED;
}

static int run(struct merging *g, const char *const *paths, uint32_t nr)
{
	struct model_options options = {0};
	enum merge_refusal why;
	uint32_t failed;
	int err;

	cli_progress_enable(&options);
	err = hosts_merge_open(&g->merge, paths, nr, &failed, &why);
	if (err && why != MERGE_FINE)
		return refused(g, failed, why);
	if (err)
		return cli_trace_error(paths[failed], err);
	err = hosts_merge_align(&g->merge, &options, &failed);
	cli_progress_done();
	if (err) {
		cli_error("%s: %s", paths[failed],
			  err == -ERANGE ? "its clock, or its time of day, is too many years from "
					   "the first one's"
					 : strerror(-err));
		return CLI_FAILED;
	}
	return merge_out(g);
}

int cmd_merge(int argc, char **argv)
{
	static const struct option options[] = {{"output", required_argument, NULL, 'o'},
						{"quiet", no_argument, NULL, 'q'},
						{"help", no_argument, NULL, 'h'},
						{NULL, 0, NULL, 0}};
	struct merging g = {.fd = -1};
	int opt, status;

	while ((opt = cli_getopt(argc, argv, ":o:qh", options)) != -1) {
		switch (opt) {
		case 'o':
			g.out = optarg;
			break;
		case 'q':
			cli_quiet = true;
			break;
		case 'h':
			fputs(help, stdout);
			return CLI_OK;
		default:
			return CLI_USAGE;
		}
	}
	if (!g.out || !*g.out || argc - optind < 2) {
		cli_error("%s; usage: %s",
			  g.out && *g.out ? "two trace directories or more are needed"
					  : "-o OUT, the directory to write, is needed",
			  usage);
		return CLI_USAGE;
	}
	if (argc - optind > (int)MANIFEST_HOSTS_MAX) {
		cli_error("%d sessions: not more than %u can be put together", argc - optind,
			  MANIFEST_HOSTS_MAX);
		return CLI_USAGE;
	}
	status = run(&g, (const char *const *)argv + optind, (uint32_t)(argc - optind));
	hosts_merge_close(&g.merge);
	return status;
}
