/* SPDX-License-Identifier: MIT */
/*
 * Messages, option values, and text shared by the sub-commands.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "trace/json_text.h"

/* So many streams are named that cannot be read, or are damaged. */
#define UNREAD_MAX 16u

__attribute__((format(printf, 2, 0))) static void message(const char *kind, const char *format,
							  va_list args)
{
	fflush(stdout);
	fprintf(stderr, "jis%s%s: %s", cli_verb ? " " : "", cli_verb ? cli_verb : "", kind);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
}

void cli_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	message("", format, args);
	va_end(args);
}

void cli_warn(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	message("warning: ", format, args);
	va_end(args);
}

void cli_note(const char *format, ...)
{
	va_list args;

	if (cli_quiet)
		return;
	va_start(args, format);
	message("", format, args);
	va_end(args);
}

/* How many options @word, "--name" or "--name=value", may be short for. */
static int options_meant(const struct option *options, const char *word)
{
	size_t length = strcspn(word + 2, "=");
	int n = 0;

	for (; options->name; options++)
		n += !strncmp(options->name, word + 2, length);
	return n;
}

static bool option_has(const struct option *options, int value)
{
	for (; options->name; options++)
		if (options->val == value)
			return true;
	return false;
}

static void option_error(const char *letters, const struct option *options, const char *word,
			 bool needs_value)
{
	/* Long options have letters, too, which are none on the command line. */
	bool known = optopt && (!strncmp(word, "--", 2) ? option_has(options, optopt)
							: strchr(letters, optopt) != NULL);
	const char *what = needs_value ? " needs a value" : known ? " takes no value" : "";
	char text[64];

	if (!optopt || (known && !strncmp(word, "--", 2)))
		snprintf(text, sizeof(text), "%.*s", (int)strcspn(word, "="), word);
	else
		snprintf(text, sizeof(text), "-%c", optopt);
	if (!optopt && options_meant(options, word) > 1)
		what = " may be short for more than one";
	cli_error("%s %s%s; see jis %s --help", *what ? "option" : "unknown option", text, what,
		  cli_verb);
}

int cli_getopt(int argc, char **argv, const char *letters, const struct option *options)
{
	int opt;

	opterr = 0; /* its messages would not be ours */
	opt = getopt_long(argc, argv, letters, options, NULL);
	if (opt != '?' && opt != ':')
		return opt;
	option_error(letters, options, argv[optind - 1], opt == ':');
	return '?';
}

int cli_trace_error(const char *path, int err)
{
	int fd;

	switch (err) {
	case -ENOENT:
		cli_error("%s: no such directory", path);
		break;
	case -ENOTDIR:
		cli_error("%s: not a directory; give the directory that jis record made", path);
		break;
	case -ENODATA:
		cli_error("%s: no trace in it (no manifest.json); if a recorder was killed at its "
			  "start, "
			  "try: jis recover %s",
			  path, path);
		break;
	case -EUCLEAN:
		cli_error("%s: the recording was not closed (recorder killed, or still running); "
			  "when it no longer runs: jis recover %s",
			  path, path);
		break;
	case -EBADMSG:
		cli_error("%s: its manifest.json is damaged; rebuild it with: jis recover %s", path,
			  path);
		break;
	case -EPROTONOSUPPORT:
		cli_error("%s: written by another version of jis whose format this one does not "
			  "read; "
			  "use the version named in its manifest.json",
			  path);
		break;
	default:
		/* Where the directory can be opened, it is the manifest that cannot. */
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		cli_error("%s%s: %s", path, fd < 0 ? "" : ": its manifest.json", strerror(-err));
		if (fd >= 0)
			close(fd);
	}
	return CLI_FAILED;
}

struct unit {
	const char *suffix;
	uint64_t factor;
};

static int parse_with_unit(const char *option, const char *text, const struct unit *units,
			   const char *example, uint64_t *out)
{
	char *end;
	double value;

	errno = 0;
	value = strtod(text, &end);
	if (end == text || errno || !isdigit((unsigned char)text[0]))
		goto bad;
	for (const struct unit *u = units; u->suffix; u++) {
		if (strcasecmp(end, u->suffix))
			continue;
		if (value * (double)u->factor >= 9.0e18)
			goto bad;
		*out = (uint64_t)(value * (double)u->factor + 0.5);
		return 0;
	}
bad:
	cli_error("--%s: \"%s\" is no value for it; write it as %s", option, text, example);
	return -1;
}

int cli_parse_duration(const char *option, const char *text, uint64_t *ns)
{
	static const struct unit units[] = {
		{"", 1000000000}, {"s", 1000000000},  {"ms", 1000000},	    {"us", 1000},
		{"ns", 1},	  {"m", 60000000000}, {"min", 60000000000}, {NULL, 0},
	};

	return parse_with_unit(option, text, units, "10s, 1.5s, 200ms, 10us or 2m", ns);
}

int cli_parse_size(const char *option, const char *text, uint64_t *bytes)
{
	static const struct unit units[] = {
		{"", 1},	   {"B", 1},	     {"K", 1 << 10}, {"KiB", 1 << 10},
		{"M", 1 << 20},	   {"MiB", 1 << 20}, {"G", 1 << 30}, {"GiB", 1 << 30},
		{"T", 1ull << 40}, {NULL, 0},
	};

	return parse_with_unit(option, text, units, "64M, 1.5G or 100000", bytes);
}

int cli_parse_u32(const char *option, const char *text, uint32_t min, uint32_t max, uint32_t *out)
{
	char *end;
	unsigned long long value;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (end == text || *end || errno || text[0] == '-' || value < min || value > max) {
		cli_error("--%s: \"%s\" is not a number from %u to %u", option, text, min, max);
		return -1;
	}
	*out = (uint32_t)value;
	return 0;
}

int reading_option(struct reading_options *o, int opt, const char *value)
{
	switch (opt) {
	case 'F':
		return cli_parse_duration("from", value, &o->model.from) ? -1 : 1;
	case 'T':
		if (cli_parse_duration("to", value, &o->model.to))
			return -1;
		if (o->model.to)
			return 1;
		cli_error("--to 0: nothing lies before the recording's start");
		return -1;
	case 'H':
		o->model.thread = value;
		return 1;
	case 'P':
		o->model.process = value;
		return 1;
	case 'q':
		cli_quiet = true;
		return 1;
	}
	return 0;
}

bool reading_window_valid(const struct reading_options *o)
{
	if (!o->model.to || o->model.from <= o->model.to)
		return true;
	cli_error("--from is after --to: the window is empty");
	return false;
}

const char *cli_directory(int argc, char **argv, const char *usage)
{
	if (optind == argc - 1)
		return argv[optind];
	if (optind >= argc)
		cli_error("which trace? usage: %s", usage);
	else
		cli_error("one trace at a time, and \"%s\" is too much; usage: %s",
			  argv[optind + 1], usage);
	return NULL;
}

const char *cli_format_bytes(char *buffer, size_t n, uint64_t bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	double value = (double)bytes;
	int unit = 0;

	while (value >= 1024 && unit < 4) {
		value /= 1024;
		unit++;
	}
	snprintf(buffer, n, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
	return buffer;
}

const char *cli_format_ns(char *buffer, size_t n, uint64_t ns)
{
	if (ns < 1000)
		snprintf(buffer, n, "%" PRIu64 " ns", ns);
	else if (ns < 1000000)
		snprintf(buffer, n, "%.1f us", (double)ns / 1e3);
	else if (ns < 1000000000)
		snprintf(buffer, n, "%.1f ms", (double)ns / 1e6);
	else
		snprintf(buffer, n, "%.3f s", (double)ns / 1e9);
	return buffer;
}

void cli_print_escaped(FILE *out, const char *text)
{
	for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
		int length = json_text_character((const char *)p);

		if (*p == '"' || *p == '\\')
			fprintf(out, "\\%c", *p);
		else if (*p == '\n')
			fputs("\\n", out);
		else if (*p == '\t')
			fputs("\\t", out);
		else if (*p < 0x20 || *p == 0x7f)
			fprintf(out, "\\x%02x", *p);
		else if (*p == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0) /* U+0080 to U+009F */
			fprintf(out, "\\u%04x", *++p);
		else if (length == 0)
			fprintf(out, "\\x%02x", *p);
		else {
			fwrite(p, 1, (size_t)length, out);
			p += length - 1;
		}
	}
}

char *cli_escaped(const char *text)
{
	char *escaped = NULL;
	size_t size;
	FILE *f = open_memstream(&escaped, &size);

	if (!f)
		return NULL;
	cli_print_escaped(f, text);
	fclose(f);
	return escaped;
}

struct loss_totals cli_stream_totals(const struct stream_entry *s)
{
	struct loss_totals t = {0, 0, 0};

	for (int i = 0; i < JIS_MAX_EVENT_ID; i++) {
		t.produced += s->produced[i];
		t.stored += s->stored[i];
		t.lost += s->lost[i];
	}
	return t;
}

struct loss_totals cli_manifest_totals(const struct manifest *m)
{
	struct loss_totals sum = {0, 0, 0};

	for (uint32_t i = 0; i < m->nr_streams; i++) {
		struct loss_totals t = cli_stream_totals(&m->streams[i]);

		sum.produced += t.produced;
		sum.stored += t.stored;
		sum.lost += t.lost;
	}
	return sum;
}

const char *cli_unread_reason(const struct stream_entry *s)
{
	switch (s->unread) {
	case -EBADMSG:
		return "it holds no packet of that stream";
	case -ELOOP:
		return "it is a symbolic link";
	case -EINVAL:
		return "it is no plain file";
	default:
		return strerror(-s->unread);
	}
}

/* The path is the manifest's, and anybody may have written that. */
static void say_stream(void (*say)(const char *format, ...), const char *path, const char *what,
		       const char *why)
{
	char *text = cli_escaped(path);

	say("%s %s: %s", text ? text : "?", what, why);
	free(text);
}

int cli_tell_unread(const struct manifest *m)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < m->nr_streams; i++) {
		const struct stream_entry *s = &m->streams[i];

		if (!s->unread)
			continue;
		if (nr++ < UNREAD_MAX)
			say_stream(cli_error, s->path, "cannot be read", cli_unread_reason(s));
	}
	if (nr > UNREAD_MAX)
		cli_error("nor can %u streams more", nr - UNREAD_MAX);
	return nr ? CLI_FAILED : CLI_OK;
}

static bool damage_known(const struct manifest *m, const char *path)
{
	for (uint32_t i = 0; i < m->nr_damages; i++)
		if (!strcmp(m->damages[i].path, path))
			return true;
	return false;
}

/* What reading has found and the manifest does not say. */
static void warn_found(const struct manifest *m)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < m->nr_streams; i++) {
		const struct stream_entry *s = &m->streams[i];

		if (!s->damages || s->unread || damage_known(m, s->path))
			continue;
		if (nr++ < UNREAD_MAX)
			say_stream(cli_warn, s->path, "is damaged (jis info lists where)",
				   s->damage);
	}
	if (nr > UNREAD_MAX)
		cli_warn("so are %u streams more", nr - UNREAD_MAX);
}

void cli_warn_deep(const struct model *m)
{
	uint64_t deep = model_deep_calls(m);

	if (deep)
		cli_warn("%" PRIu64 " calls have more than a million others around them, and are "
			 "left out: their time is that of the call around them",
			 deep);
}

int cli_warn_losses(const struct manifest *m)
{
	struct loss_totals t = cli_manifest_totals(m);

	if (t.lost)
		cli_warn("%" PRIu64 " of %" PRIu64
			 " records were lost while recording: the intervals are "
			 "shown as unknown; record with a larger --buffer",
			 t.lost, t.produced);
	if (m->nr_damages)
		cli_warn("%u intervals of the trace are damaged (jis info lists them)",
			 m->nr_damages);
	warn_found(m);
	return cli_tell_unread(m);
}
