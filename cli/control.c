/* SPDX-License-Identifier: MIT */
/*
 * `jis pause DIR` and `jis resume DIR`: speak to the recorder that writes into DIR.
 */
#include <errno.h>
#include <string.h>

#include "cli.h"
#include "libjisctl/jisctl.h"

static int control(int argc, char **argv, const char *usage, const char *what)
{
	static const struct option options[] = {{"quiet", no_argument, NULL, 'q'},
						{"help", no_argument, NULL, 'h'},
						{NULL, 0, NULL, 0}};
	char reply[256] = "";
	const char *path;
	int opt, err;

	while ((opt = cli_getopt(argc, argv, ":qh", options)) != -1) {
		switch (opt) {
		case 'q':
			cli_quiet = true;
			break;
		case 'h':
			printf("usage: %s\n\n%s\n", usage, what);
			return CLI_OK;
		default:
			return CLI_USAGE;
		}
	}
	path = cli_directory(argc, argv, usage);
	if (!path)
		return CLI_USAGE;
	err = jisctl_control(path, argv[0], reply, sizeof(reply));
	if (err == -ENOENT || err == -ECONNREFUSED)
		cli_error("%s: no recording is under way there", path);
	else if (err == -EACCES || err == -EPERM)
		cli_error("%s: only root and the user who records may do that", path);
	else if (err)
		cli_error("%s: %s", path, reply[0] ? reply : strerror(-err));
	else
		cli_note("%s: %s", path, reply);
	return err ? CLI_FAILED : CLI_OK;
}

int cmd_pause(int argc, char **argv)
{
	return control(
		argc, argv, "jis pause DIR",
		"Pauses the recording under way in DIR: nothing is recorded until jis resume.\n"
		"The pause is in the trace, and states are unknown during it.");
}

int cmd_resume(int argc, char **argv)
{
	return control(argc, argv, "jis resume DIR", "Goes on with the paused recording in DIR.");
}
