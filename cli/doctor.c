/* SPDX-License-Identifier: MIT */
/*
 * `jis doctor`: what works on this host, what does not, and the remedy for each; what each backend
 * records here.
 */
#include <json-c/json.h>
#include <string.h>

#include "cli.h"
#include "libjisctl/jisctl.h"

#define MAX_CHECKS 64
#define MAX_ROWS 64

static const char help[] =
	"usage: jis doctor [--json]\n\n"
	"Says what of JIS works on this host, what does not, and what to do about it;\n"
	"and what the module and the ftrace backend record here.\n"
	"Exit status 0 when recording is possible, 1 when it is not.\n\n"
	"      --json   as JSON, for programs\n"
	"  -h, --help   this text\n";

static void print_text(const struct jisctl_check *checks, int n)
{
	static const char *const words[] = {"limited", "no", "ok"};

	for (int i = 0; i < n; i++) {
		printf("%-14s %-8s %s\n", checks[i].name, words[checks[i].ok + 1],
		       checks[i].detail);
		if (checks[i].remedy[0])
			printf("%-14s %-8s -> %s\n", "", "", checks[i].remedy);
	}
}

static void print_reason(const char *backend, const struct jisctl_recorded *r)
{
	if (r->reason[0])
		printf("    %s: %s\n", backend, r->reason);
}

static const char *word(const struct jisctl_recorded *r)
{
	static const char *const words[] = {"in part", "no", "yes"};

	return words[r->records + 1];
}

/* Where the module is not there at all, the check has said so: its column is enough. */
static void print_table(const struct jisctl_coverage *rows, int n, bool module)
{
	printf("\n%-64s %-8s %s\n", "recorded here", "module", "ftrace");
	for (int i = 0; i < n; i++) {
		printf("%-64s %-8s %s\n", rows[i].what, word(&rows[i].kmod), word(&rows[i].ftrace));
		if (module)
			print_reason("module", &rows[i].kmod);
		print_reason("ftrace", &rows[i].ftrace);
	}
}

static struct json_object *recorded_json(const struct jisctl_recorded *r)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "records", json_object_new_string(word(r)));
	json_object_object_add(o, "reason", json_object_new_string(r->reason));
	return o;
}

static struct json_object *table_json(const struct jisctl_coverage *rows, int n)
{
	struct json_object *list = json_object_new_array();

	for (int i = 0; i < n; i++) {
		struct json_object *o = json_object_new_object();

		json_object_object_add(o, "what", json_object_new_string(rows[i].what));
		json_object_object_add(o, "kmod", recorded_json(&rows[i].kmod));
		json_object_object_add(o, "ftrace", recorded_json(&rows[i].ftrace));
		json_object_array_add(list, o);
	}
	return list;
}

static void print_json(const struct jisctl_check *checks, int n, bool usable,
		       struct json_object *table)
{
	struct json_object *root = json_object_new_object(), *list = json_object_new_array();

	json_object_object_add(root, "usable", json_object_new_boolean(usable));
	for (int i = 0; i < n; i++) {
		struct json_object *o = json_object_new_object();

		json_object_object_add(o, "name", json_object_new_string(checks[i].name));
		json_object_object_add(o, "ok", json_object_new_int(checks[i].ok));
		json_object_object_add(o, "detail", json_object_new_string(checks[i].detail));
		json_object_object_add(o, "remedy", json_object_new_string(checks[i].remedy));
		json_object_array_add(list, o);
	}
	json_object_object_add(root, "checks", list);
	json_object_object_add(root, "recorded", table);
	puts(json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY));
	json_object_put(root);
}

static const struct jisctl_check *find(const struct jisctl_check *checks, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(checks[i].name, name))
			return &checks[i];
	return NULL;
}

static bool works(const struct jisctl_check *c)
{
	return c && c->ok != 0;
}

int cmd_doctor(int argc, char **argv)
{
	static const struct option options[] = {{"json", no_argument, NULL, 'j'},
						{"help", no_argument, NULL, 'h'},
						{NULL, 0, NULL, 0}};
	struct jisctl_check checks[MAX_CHECKS];
	struct jisctl_coverage rows[MAX_ROWS];
	bool json = false, usable;
	int opt, n, nr_rows;

	while ((opt = cli_getopt(argc, argv, ":h", options)) != -1) {
		switch (opt) {
		case 'j':
			json = true;
			break;
		case 'h':
			fputs(help, stdout);
			return CLI_OK;
		default:
			return CLI_USAGE;
		}
	}
	n = jisctl_doctor(checks, MAX_CHECKS);
	if (n > MAX_CHECKS)
		n = MAX_CHECKS;
	nr_rows = jisctl_coverage(rows, MAX_ROWS);
	if (nr_rows > MAX_ROWS)
		nr_rows = MAX_ROWS;
	usable = works(find(checks, n, "root")) &&
		 (works(find(checks, n, "module")) || works(find(checks, n, "ftrace")));
	if (json) {
		print_json(checks, n, usable, table_json(rows, nr_rows));
	} else {
		print_text(checks, n);
		print_table(rows, nr_rows, works(find(checks, n, "module")));
		puts(usable ? "\njis record works here."
			    : "\njis record cannot work here yet: see above.");
	}
	return usable ? CLI_OK : CLI_FAILED;
}
