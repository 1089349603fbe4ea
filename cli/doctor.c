/* SPDX-License-Identifier: MIT */
/*
 * `jis doctor`: what works on this host, what does not, and the remedy for each.
 */
#include <json-c/json.h>
#include <string.h>

#include "cli.h"
#include "libjisctl/jisctl.h"

#define MAX_CHECKS 64

static const char help[] =
	"usage: jis doctor [--json]\n\n"
	"Says what of JIS works on this host, what does not, and what to do about it.\n"
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

static void print_json(const struct jisctl_check *checks, int n, bool usable)
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
	bool json = false, usable;
	int opt, n;

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
	usable = works(find(checks, n, "root")) &&
		 (works(find(checks, n, "module")) || works(find(checks, n, "ftrace")));
	if (json) {
		print_json(checks, n, usable);
	} else {
		print_text(checks, n);
		puts(usable ? "\njis record works here."
			    : "\njis record cannot work here yet: see above.");
	}
	return usable ? CLI_OK : CLI_FAILED;
}
