/* SPDX-License-Identifier: MIT */
/*
 * What processes are called, and which of them a text chooses: one rule for all tools.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_text.h"
#include "manifest.h"

const char *process_entry_name(const struct process_entry *p)
{
	return p->given_name && *p->given_name ? p->given_name : p->name;
}

bool process_entry_wanted(const struct process_entry *p, const char *text)
{
	char *end;
	unsigned long number;

	if (!text)
		return true;
	number = strtoul(text, &end, 10);
	if (*text && !*end && number == p->pid)
		return true;
	return (p->given_name && strstr(p->given_name, text)) || (p->name && strstr(p->name, text));
}

static bool is_control(const unsigned char *c)
{
	/* U+0080 to U+009F are such, too. */
	return *c < ' ' || *c == 0x7f || (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0);
}

const char *process_name_wrong(const char *name)
{
	_Static_assert(PROCESS_NAME_MAX == 63, "the text below says it");

	if (!*name)
		return "the name is empty";
	if (strlen(name) > PROCESS_NAME_MAX)
		return "the name is longer than 63 bytes";
	for (const char *c = name; *c; c++)
		if (is_control((const unsigned char *)c))
			return "the name has control characters";
	return json_text_is_utf8(name) ? NULL : "the name is no UTF-8";
}
