/* SPDX-License-Identifier: MIT */
/*
 * Lists of methods: presets and files become the rules they stand for. What a rule means is the
 * agent's to say (agent/choice.h).
 */
#include "methods_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jis/agent.h>

#include "cli.h"

#define SEPARATORS ", \t\r\n"
#define FILES_DEPTH 4

#define NOT_JDK                                                                                    \
	"!java.*,!javax.*,!jdk.*,!sun.*,!com.sun.*,!jis.*,!org.w3c.dom.*,!org.xml.sax.*,"          \
	"!org.ietf.jgss.*,!jrockit.*,!**$$Lambda*"
#define NOT_SERVERS                                                                                \
	",!org.apache.catalina.*,!org.apache.coyote.*,!org.apache.tomcat.*,!org.apache.jasper.*,"  \
	"!org.apache.el.*,!org.apache.juli.*,!org.apache.naming.*,!jakarta.*,!org.eclipse.jetty.*" \
	","                                                                                        \
	"!io.undertow.*,!org.jboss.*,!org.wildfly.*,!io.netty.*,!org.glassfish.*,!weblogic.*,"     \
	"!com.ibm.*"
#define WEB                                                                                        \
	",org.apache.catalina.*,org.apache.coyote.*,org.apache.jasper.*,jakarta.servlet.*,"        \
	"javax.servlet.*,org.eclipse.jetty.*,io.undertow.*"

static const struct {
	const char *name, *rules;
} presets[] = {
	{"app", "**," NOT_JDK NOT_SERVERS ",size>10"},
	{"web", "**," NOT_JDK NOT_SERVERS WEB ",size>10"},
	{"all", "**,!jis.*,size>10"},
	{"none", "!**"},
};

static int text_add(char **rules, const char *option, const char *prefix, const char *text,
		    size_t length)
{
	size_t used = *rules ? strlen(*rules) : 0, before = strlen(prefix);
	char *longer;

	if (used + before + length + 1 > JIS_METHODS_TEXT_MAX) {
		cli_error("%s: the list is longer than %u characters", option,
			  JIS_METHODS_TEXT_MAX);
		return -1;
	}
	longer = realloc(*rules, used + before + length + 2);
	if (!longer) {
		cli_error("%s: %s", option, strerror(ENOMEM));
		return -1;
	}
	*rules = longer;
	if (used)
		longer[used++] = ',';
	memcpy(longer + used, prefix, before);
	memcpy(longer + used + before, text, length);
	longer[used + before + length] = 0;
	return 0;
}

static int list_add(char **rules, const char *option, const char *list, const char *prefix,
		    int depth);

/* A file: as a list, a line or several; what follows # is a comment. */
static int file_add(char **rules, const char *option, const char *path, const char *prefix,
		    int depth)
{
	char *line = NULL;
	size_t room = 0;
	FILE *f = depth ? fopen(path, "re") : NULL;
	int err = 0;

	if (!f) {
		cli_error("%s: %s: %s", option, path,
			  depth ? strerror(errno) : "too many files in files");
		return -1;
	}
	while (!err && getline(&line, &room, f) >= 0) {
		line[strcspn(line, "#")] = 0;
		err = list_add(rules, option, line, prefix, depth - 1);
	}
	free(line);
	fclose(f);
	return err;
}

static const char *wrong_word(const char *word, size_t length)
{
	const char *p = word + (*word == '!');
	size_t i;

	if (p == word + length)
		return "there is no pattern";
	for (i = (size_t)(p - word); i < length; i++)
		if (strchr("!#/", word[i]) || (unsigned char)word[i] < ' ')
			return word[i] == '/' ? "classes are named with dots, as com.acme.Service"
					      : "it has a character that is in no name";
	return NULL;
}

static int word_add(char **rules, const char *option, const char *word, size_t length,
		    const char *prefix, int depth)
{
	char path[4096];
	const char *why;
	size_t i;

	if (*word == '@') {
		snprintf(path, sizeof(path), "%.*s", (int)length - 1, word + 1);
		return file_add(rules, option, path, prefix, depth);
	}
	for (i = 0; !*prefix && i < sizeof(presets) / sizeof(presets[0]); i++)
		if (length == strlen(presets[i].name) && !strncmp(word, presets[i].name, length))
			return text_add(rules, option, "", presets[i].rules,
					strlen(presets[i].rules));
	why = wrong_word(word, length);
	if (!why)
		return text_add(rules, option, prefix, word, length);
	cli_error("%s: \"%.*s\": %s", option, (int)length, word, why);
	return -1;
}

static int list_add(char **rules, const char *option, const char *list, const char *prefix,
		    int depth)
{
	size_t length;

	for (;; list += length) {
		list += strspn(list, SEPARATORS);
		if (!*list)
			return 0;
		length = strcspn(list, SEPARATORS);
		if (word_add(rules, option, list, length, prefix, depth))
			return -1;
	}
}

int methods_list_add(char **rules, const char *option, const char *list, const char *prefix)
{
	if (!list[strspn(list, SEPARATORS)]) {
		cli_error("%s: the list is empty", option);
		return -1;
	}
	return list_add(rules, option, list, prefix ? prefix : "", FILES_DEPTH);
}

/* The JVM allows all but . ; [ / < > in a method's name, other languages do use blanks. */
static void rule_text(FILE *out, const char *text)
{
	for (; *text; text++)
		putc((unsigned char)*text <= ' ' || strchr(",#*?!:@/\177", *text) ? '?' : *text,
		     out);
}

void methods_rule_not(FILE *out, const char *name, const char *descriptor)
{
	putc('!', out);
	rule_text(out, name);
	rule_text(out, descriptor);
}

/* Arguments ---------------------------------------------------------------------------------- */

#define ARGUMENTS "--arguments"

/* "0", "this" or "*", as agents have it in *@out; NULL, or what is wrong with it. */
static const char *value_word(const char *word, size_t length, char *out, size_t n)
{
	size_t i;

	if (length == 1 && *word == '*') {
		snprintf(out, n, "all");
		return NULL;
	}
	for (i = 0; i < length && word[i] >= '0' && word[i] <= '9'; i++)
		;
	if (!length || length > 4 ||
	    (i < length && (length != 4 || strncmp(word, "this", 4) != 0)) ||
	    (i == length && atoi(word) > 254))
		return "a value is the number of an argument from 0 on, this, or *";
	snprintf(out, n, "%.*s", (int)length, word);
	return NULL;
}

/* The values of "METHOD(VALUE,...)", which end before the last character. */
static const char *values_write(const char *p, const char *end, FILE *out)
{
	char value[8];
	unsigned int n = 0;
	const char *why;

	for (;; p++) {
		size_t length = strcspn(p, ",)");

		why = value_word(p, length, value, sizeof(value));
		if (why)
			return why;
		if (n++ == 8)
			return "a call tells at most 8 values";
		fprintf(out, "%s%s", n > 1 ? "+" : "", value);
		p += length;
		if (p == end)
			return NULL;
	}
}

/* "CLASS.METHOD(0,2)" is the rule arguments:0+2:CLASS.METHOD. */
static int arguments_add(char **rules, const char *word, size_t length)
{
	const char *open = memrchr(word, '(', length), *why = NULL;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int err = -1;

	if (!out) {
		cli_error(ARGUMENTS ": %s", strerror(ENOMEM));
		return -1;
	}
	if (!open || word[length - 1] != ')')
		why = "behind the method stands which values: CLASS.METHOD(0,2), (this) or (*)";
	else if (open == word)
		why = "there is no method";
	else if (*word == '!' || *word == '@')
		why = "a method is named by its class and name, as com.acme.Service.handle";
	else
		why = wrong_word(word, (size_t)(open - word));
	fputs("arguments:", out);
	if (!why)
		why = values_write(open + 1, word + length - 1, out);
	fprintf(out, ":%.*s", open ? (int)(open - word) : 0, word);
	fclose(out);
	if (why)
		cli_error(ARGUMENTS ": \"%.*s\": %s", (int)length, word, why);
	else if (text)
		err = text_add(rules, ARGUMENTS, "", text, strlen(text));
	free(text);
	return err;
}

/* Up to the next comma or space that is in no parentheses. */
static size_t arguments_length(const char *list)
{
	size_t i;
	int inside = 0;

	for (i = 0; list[i] && (inside || !strchr(SEPARATORS, list[i])); i++)
		inside = list[i] == '(' || (inside && list[i] != ')');
	return i;
}

int arguments_list_add(char **rules, const char *list)
{
	size_t length;

	if (!list[strspn(list, SEPARATORS)]) {
		cli_error(ARGUMENTS ": the list is empty");
		return -1;
	}
	for (;; list += length) {
		list += strspn(list, SEPARATORS);
		if (!*list)
			return 0;
		length = arguments_length(list);
		if (arguments_add(rules, list, length))
			return -1;
	}
}

int argument_strings_add(char **rules, const char *value)
{
	uint32_t n;
	char text[32];

	if (cli_parse_u32("argument-strings", value, 0, 1000, &n))
		return -1;
	snprintf(text, sizeof(text), "strings:%u", n);
	return text_add(rules, "--argument-strings", "", text, strlen(text));
}
