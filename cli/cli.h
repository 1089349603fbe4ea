/* SPDX-License-Identifier: MIT */
/*
 * What the sub-commands of `jis` share: option parsing, messages, progress, JSON output. Only cli/
 * prints and exits; messages go to stderr as "jis VERB: what failed: why; what to do".
 */
#ifndef JIS_CLI_H
#define JIS_CLI_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "merger/model.h"

/* Exit statuses of the tool, beside the command's own that `jis record` passes on. */
enum cli_exit {
	CLI_OK = 0,
	CLI_FAILED = 1, /* what was asked for could not be done */
	CLI_USAGE = 2,	/* the command line is wrong */
	CLI_INCOMPLETE =
		3, /* done, but records were lost or the trace is damaged (with --strict) */
	CLI_NOT_FOUND = 127, /* record: command not found */
};

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
};

int cmd_record(int argc, char **argv);
int cmd_pause(int argc, char **argv);
int cmd_attach(int argc, char **argv);
int cmd_detach(int argc, char **argv);
int cmd_methods(int argc, char **argv);
int cmd_resume(int argc, char **argv);
int cmd_snapshot(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_why(int argc, char **argv);
int cmd_stats(int argc, char **argv);
int cmd_rmi(int argc, char **argv);
int cmd_tree(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_recover(int argc, char **argv);
int cmd_doctor(int argc, char **argv);

/* Name of the running sub-command, for messages. */
extern const char *cli_verb;
extern bool cli_quiet;

/* Messages to stderr; cli_note() is silent with --quiet. */
void cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void cli_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void cli_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Says why @path cannot be read as a trace, with the remedy; returns CLI_FAILED. */
int cli_trace_error(const char *path, int err);

/*
 * cli_getopt - getopt_long(3) that says itself what is wrong, in the tool's words, and returns '?'.
 * @letters: begin with ":", or "+:" where the first word that is no option ends the options.
 */
int cli_getopt(int argc, char **argv, const char *letters, const struct option *options);

/*
 * Parsers of option values: 0, or -1 after a message that names @option. Durations: a number with
 * ns, us, ms, s (default) or m, into ns. Sizes: a number with K, M or G, into bytes.
 */
int cli_parse_duration(const char *option, const char *text, uint64_t *ns);
int cli_parse_size(const char *option, const char *text, uint64_t *bytes);
int cli_parse_u32(const char *option, const char *text, uint32_t min, uint32_t max, uint32_t *out);

/* --from --to --thread --process, which every reading command takes, and --quiet and --help. */
struct reading_options {
	struct model_options model;
};

#define CLI_READING_OPTIONS                                                                        \
	{"from", required_argument, NULL, 'F'}, {"to", required_argument, NULL, 'T'},              \
		{"thread", required_argument, NULL, 'H'},                                          \
		{"process", required_argument, NULL, 'P'}, {"quiet", no_argument, NULL, 'q'},      \
	{                                                                                          \
		"help", no_argument, NULL, 'h'                                                     \
	}

#define CLI_READING_HELP                                                                           \
	"      --from TIME       begin here (offset from the recording's start: 1.5s, 200ms, "     \
	"10us)\n"                                                                                  \
	"      --to TIME         end here\n"                                                       \
	"      --thread TEXT     only threads whose name contains TEXT, or whose tid it is\n"      \
	"      --process TEXT    only processes whose name contains TEXT, or whose pid it is\n"    \
	"  -q, --quiet           no progress and no notes\n"                                       \
	"  -h, --help            this text\n"

/* Takes @opt when it is one of the above. Returns 1 taken, 0 not mine, -1 bad value (message
 * given). */
int reading_option(struct reading_options *o, int opt, const char *value);

/* Is --from before --to? Otherwise false after a message. */
bool reading_window_valid(const struct reading_options *o);

/* The one trace directory of the command line, or NULL after a message. */
const char *cli_directory(int argc, char **argv, const char *usage);

/* Progress on stderr when it is a terminal and not --quiet: rate and time left. */
void cli_progress_enable(struct model_options *options);
void cli_progress_done(void);

/* Human text for a size or a count; @buffer is returned. */
const char *cli_format_bytes(char *buffer, size_t n, uint64_t bytes);
const char *cli_format_ns(char *buffer, size_t n, uint64_t ns);

/* Writes @text with control characters, backslash, quotes, and what is no UTF-8, escaped as in C.
 */
void cli_print_escaped(FILE *out, const char *text);
/* The same as a string, for free(); NULL without memory. */
char *cli_escaped(const char *text);

/* Sum over all types of a stream's counters. */
struct loss_totals {
	uint64_t produced, stored, lost;
};
struct loss_totals cli_stream_totals(const struct stream_entry *s);
struct loss_totals cli_manifest_totals(const struct manifest *m);

/*
 * After reading: says on stderr what was lost or damaged, and which streams could not be read.
 * Returns CLI_OK, or CLI_FAILED when there are such.
 */
int cli_warn_losses(const struct manifest *m);

/* Says on stderr how many calls of methods were too deep to be told, if any. */
void cli_warn_deep(const struct model *m);

/* Says on stderr which streams could not be read, and why; returns as cli_warn_losses(). */
int cli_tell_unread(const struct manifest *m);
/* Why nothing of @s can be read, in words. */
const char *cli_unread_reason(const struct stream_entry *s);

#endif /* JIS_CLI_H */
