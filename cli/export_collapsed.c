/* SPDX-License-Identifier: MIT */
/*
 * `jis export collapsed`: where threads wait, and calls of traced methods, as stacks for flame
 * graphs.
 */
#include "export_collapsed.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cli.h"

static int write_lines(const struct collapsed *c, const char *output)
{
	bool to_file = output && strcmp(output, "-") != 0;
	FILE *out = to_file ? fopen(output, "we") : stdout;
	int64_t n;

	if (!out)
		return -errno;
	n = collapsed_write(c, out);
	if (to_file && fclose(out) && n >= 0)
		n = -errno;
	if (n >= 0 && to_file)
		cli_note("%s: %" PRId64 " lines", output, n);
	return n < 0 ? (int)n : 0;
}

int export_collapsed(const char *path, const struct model_options *options,
		     const struct collapsed_options *how, const char *output)
{
	const struct model_sink *sinks[1];
	struct collapsed *c;
	struct model *model;
	int status = CLI_FAILED, err = model_open(path, options, &model);

	if (err)
		return cli_trace_error(path, err);
	c = collapsed_new(model, how);
	err = c ? 0 : -ENOMEM;
	if (c) {
		sinks[0] = collapsed_sink(c);
		err = model_run(model, sinks, 1);
		cli_progress_done();
	}
	if (!err)
		err = write_lines(c, output);
	if (err) {
		cli_error("%s: cannot write %s: %s", path, output ? output : "standard output",
			  strerror(-err));
	} else {
		cli_warn_deep(model);
		status = cli_warn_losses(model_info(model)->manifest);
	}
	collapsed_free(c);
	model_close(model);
	return status;
}
