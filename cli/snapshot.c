/* SPDX-License-Identifier: MIT */
/*
 * `jis snapshot DIR`: has the flight recorder of DIR write what it holds.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "libjisctl/jisctl.h"

#define SNAPSHOTS_MAX 100000

static const char help[] =
	"usage: jis snapshot [-o OUT] [--last TIME] DIR\n\n"
	"Has the recording under way in DIR, a flight recorder (jis record --flight-recorder), "
	"write the\n"
	"newest of what it holds into a trace directory of its own, while it goes on.\n\n"
	"  -o, --output OUT   directory to make (default DIR-snapshot-1, -2...)\n"
	"      --last TIME    only the last TIME (10s, 500ms, 2m); default: all there is\n"
	"  -q, --quiet        say only what went wrong\n"
	"  -h, --help         this text\n";

/* The recorder has a working directory of its own: it gets an absolute path. Returns 0 or -errno.
 */
static int absolute(const char *path, char *out, size_t n)
{
	char here[PATH_MAX];
	int len;

	if (path[0] == '/')
		len = snprintf(out, n, "%s", path);
	else if (!getcwd(here, sizeof(here)))
		return -errno;
	else
		len = snprintf(out, n, "%s/%s", here, path);
	return len < 0 || (size_t)len >= n ? -ENAMETOOLONG : 0;
}

/* The first free DIRECTORY-snapshot-N: not within, or who reads the one would read both. */
static int next_name(const char *directory, char *out, size_t n)
{
	int len = (int)strlen(directory), i;
	char path[PATH_MAX];

	while (len > 1 && directory[len - 1] == '/')
		len--;

	for (i = 1; i < SNAPSHOTS_MAX; i++) {
		if (snprintf(path, sizeof(path), "%.*s-snapshot-%d", len, directory, i) >=
		    (int)sizeof(path))
			return -ENAMETOOLONG;
		if (access(path, F_OK))
			return absolute(path, out, n);
	}
	return -EEXIST;
}

static int snapshot(const char *directory, const char *output, uint64_t last_ns)
{
	char path[PATH_MAX], reply[256];
	int err = output ? absolute(output, path, sizeof(path))
			 : next_name(directory, path, sizeof(path));

	if (err) {
		cli_error("%s: %s", output ? output : directory, strerror(-err));
		return CLI_FAILED;
	}
	err = jisctl_snapshot(directory, path, last_ns, reply, sizeof(reply));
	if (err == -ENOENT && !reply[0])
		cli_error("%s: no recording is under way there", directory);
	else if (err == -ECONNREFUSED)
		cli_error("%s: no recording is under way there", directory);
	else if (err && reply[0])
		cli_error("%s: %s", directory, reply);
	else if (err == -EACCES || err == -EPERM)
		cli_error("%s: only root and the user who records may do that", directory);
	else if (err)
		cli_error("%s: %s", directory, strerror(-err));
	else
		cli_note("%s: %s", directory, reply);
	return err ? CLI_FAILED : CLI_OK;
}

int cmd_snapshot(int argc, char **argv)
{
	static const struct option options[] = {{"output", required_argument, NULL, 'o'},
						{"last", required_argument, NULL, 'l'},
						{"quiet", no_argument, NULL, 'q'},
						{"help", no_argument, NULL, 'h'},
						{NULL, 0, NULL, 0}};
	const char *directory, *output = NULL;
	uint64_t last_ns = 0;
	int opt;

	while ((opt = cli_getopt(argc, argv, ":o:qh", options)) != -1) {
		switch (opt) {
		case 'o':
			output = optarg;
			break;
		case 'l':
			if (cli_parse_duration("last", optarg, &last_ns))
				return CLI_USAGE;
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
	directory = cli_directory(argc, argv, "jis snapshot DIR");
	return directory ? snapshot(directory, output, last_ns) : CLI_USAGE;
}
