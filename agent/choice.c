/* SPDX-License-Identifier: MIT */
#include "choice.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATTERN_MAX 1024u
#define STARS_MAX 8u /* each may double the work of a match */
#define RULES_MAX 65536u
#define STRINGS_MAX 1000u /* what a record has room for */

/* Patterns ----------------------------------------------------------------------------------- */

static int match(const char *p, const char *end, const char *t, const char *stop);

/* A star or two at @p. */
static int match_star(const char *p, const char *end, const char *t, const char *stop)
{
	int any = p + 1 < end && p[1] == '*';

	while (p < end && *p == '*')
		p++;
	if (p == end && any)
		return 1;
	for (;; t++) {
		if (match(p, end, t, stop))
			return 1;
		if (t == stop || (!any && *t == '.'))
			return 0;
	}
}

static int match(const char *p, const char *end, const char *t, const char *stop)
{
	for (; p < end; p++, t++) {
		if (*p == '*')
			return match_star(p, end, t, stop);
		if (t == stop || (*p == '?' ? *t == '.' : *p != *t))
			return 0;
	}
	return t == stop;
}

int choice_match(const char *pattern, size_t length, const char *text, size_t text_length)
{
	return match(pattern, pattern + length, text, text + text_length);
}

static int rule_match(const struct choice_rule *r, const struct choice_text *t)
{
	return choice_match(r->pattern, r->length, t->text, t->length);
}

/* Rules -------------------------------------------------------------------------------------- */

static int prefix_take(const char **word, size_t *length, const char *prefix)
{
	size_t n = strlen(prefix);

	if (*length < n || strncmp(*word, prefix, n) != 0)
		return 0;
	*word += n;
	*length -= n;
	return 1;
}

/* Of the rest of the word, without its prefixes. */
static const char *pattern_set(struct choice_rule *r, const char *word, size_t length)
{
	unsigned int stars = 0;
	size_t i;

	if (!length)
		return "it has no pattern";
	if (length > PATTERN_MAX)
		return "it is too long";
	for (i = 0; i < length; i++) {
		if (strchr("!:/,#", word[i]))
			return "it has a character that is in no name";
		stars += word[i] == '*' && (i == 0 || word[i - 1] != '*');
		r->exact &= word[i] != '*' && word[i] != '?';
	}
	if (stars > STARS_MAX)
		return "it has too many wildcards";
	r->pattern = malloc(length + 2);
	if (!r->pattern)
		return "no memory";
	memcpy(r->pattern, word, length);
	if (length > 1 && word[length - 1] == '*' && word[length - 2] == '.')
		r->pattern[length++] = '*';
	r->pattern[length] = 0;
	r->length = length;
	return NULL;
}

/* A number of up to @most at the start of [word, word + length); the rest, NULL: there is none. */
static const char *number_parse(const char *word, size_t length, uint32_t most, uint32_t *out)
{
	size_t i;

	*out = 0;
	for (i = 0; i < length && i < 5 && word[i] >= '0' && word[i] <= '9'; i++)
		*out = *out * 10 + (uint32_t)(word[i] - '0');
	return i && *out <= most ? word + i : NULL;
}

static const char *value_parse(struct choice_values *v, const char *word, size_t length)
{
	uint32_t number, i;

	if (length == 4 && !memcmp(word, "this", 4)) {
		v->receiver = 1;
	} else if (length == 3 && !memcmp(word, "all", 3)) {
		v->all = 1;
	} else {
		if (number_parse(word, length, CHOICE_ARGUMENT_MAX, &number) != word + length)
			return "a value is none of this, all, none and the numbers of arguments "
			       "from 0 to 254";
		for (i = 0; i < v->nr_arguments; i++)
			if (v->arguments[i] == number)
				return "it has an argument twice";
		if (v->nr_arguments == CHOICE_VALUES_MAX)
			return "it has more than 8 values";
		v->arguments[v->nr_arguments++] = (uint8_t)number;
	}
	return v->receiver + v->nr_arguments > (int)CHOICE_VALUES_MAX ? "it has more than 8 values"
								      : NULL;
}

/* "this+0+2:" */
static const char *values_parse(struct choice_rule *r, const char **word, size_t *length)
{
	const char *end = memchr(*word, ':', *length), *why = NULL;
	size_t n;

	if (!end || end == *word)
		return "it does not say which values";
	r->has_values = 1;
	n = (size_t)(end - *word);
	*length -= n + 1;
	if (n == 4 && !memcmp(*word, "none", 4))
		n = 0;
	while (n && !why) {
		const char *plus = memchr(*word, '+', n);
		size_t one = plus ? (size_t)(plus - *word) : n;

		why = plus && one + 1 == n ? "a value is missing"
					   : value_parse(&r->values, *word, one);
		n -= plus ? one + 1 : one;
		*word += plus ? one + 1 : one;
	}
	*word = end + 1;
	return why;
}

/* NULL, or what is wrong with it. */
static const char *rule_parse(struct choice_rule *r, const char *word, size_t length)
{
	const char *why = NULL;

	memset(r, 0, sizeof(*r));
	r->result = CHOICE_TRACED;
	r->exact = 1;
	if (prefix_take(&word, &length, "!"))
		r->result = CHOICE_NOT;
	else if (prefix_take(&word, &length, "library:"))
		r->result |= CHOICE_LIBRARY;
	else if (prefix_take(&word, &length, "mark:"))
		r->result |= CHOICE_MARK;
	if (r->result != CHOICE_NOT && prefix_take(&word, &length, "arguments:"))
		why = values_parse(r, &word, &length);
	if (why)
		return why;
	if (prefix_take(&word, &length, "annotation:"))
		r->kind = CHOICE_ANNOTATION;
	else if (prefix_take(&word, &length, "subtypes:"))
		r->kind = CHOICE_SUBTYPES;
	r->exact &= r->kind == CHOICE_NAME;
	return pattern_set(r, word, length);
}

static const char *size_parse(struct choice *c, const char *word, size_t length)
{
	uint32_t size = 0;

	if (!length || length > 5)
		return "it has no number from 0 to 65535";
	for (; length; word++, length--) {
		if (*word < '0' || *word > '9')
			return "it has no number from 0 to 65535";
		size = size * 10 + (uint32_t)(*word - '0');
	}
	c->size = size > 65535 ? 65535 : size;
	return NULL;
}

static const char *strings_parse(struct choice *c, const char *word, size_t length)
{
	uint32_t n;

	if (number_parse(word, length, STRINGS_MAX, &n) != word + length)
		return "it has no number from 0 to 1000";
	c->strings = n;
	return NULL;
}

static const char *word_add(struct choice *c, const char *word, size_t length)
{
	struct choice_rule *rules, rule;
	const char *why;

	if (length == strlen("intrinsics") && !memcmp(word, "intrinsics", length)) {
		c->intrinsics = 1;
		return NULL;
	}
	if (prefix_take(&word, &length, "strings:"))
		return strings_parse(c, word, length);
	if (prefix_take(&word, &length, "size>"))
		return size_parse(c, word, length);
	if (c->nr_rules >= RULES_MAX)
		return "there are too many";
	why = rule_parse(&rule, word, length);
	if (why)
		return why;
	rules = realloc(c->rules, (c->nr_rules + 1) * sizeof(*rules));
	if (!rules) {
		free(rule.pattern);
		return "no memory";
	}
	c->rules = rules;
	rules[c->nr_rules++] = rule;
	return NULL;
}

static void rules_cut(struct choice *c, unsigned int n)
{
	while (c->nr_rules > n)
		free(c->rules[--c->nr_rules].pattern);
}

int choice_add(struct choice *c, const char *text, char *why, size_t n)
{
	static const char separators[] = ", \t\r\n";
	unsigned int before = c->nr_rules;
	uint32_t size = c->size, strings = c->strings;
	int intrinsics = c->intrinsics;
	const char *wrong;
	size_t length;

	for (;; text += length) {
		text += strspn(text, separators);
		if (!*text)
			return 0;
		length = strcspn(text, separators);
		wrong = word_add(c, text, length);
		if (!wrong)
			continue;
		snprintf(why, n, "\"%.*s\": %s", (int)(length > 100 ? 100 : length), text, wrong);
		rules_cut(c, before);
		c->size = size;
		c->strings = strings;
		c->intrinsics = intrinsics;
		return strcmp(wrong, "no memory") ? -EINVAL : -ENOMEM;
	}
}

void choice_free(struct choice *c)
{
	rules_cut(c, 0);
	free(c->rules);
	memset(c, 0, sizeof(*c));
}

/* Methods ------------------------------------------------------------------------------------ */

static int any_match(const struct choice_rule *r, const struct choice_text *texts, unsigned int n)
{
	while (n--)
		if (rule_match(r, &texts[n]))
			return 1;
	return 0;
}

/* @full: class and name, behind which is the descriptor. */
static int name_match(const struct choice_rule *r, const struct choice_method *m, const char *full,
		      size_t length)
{
	struct choice_text t = {full, m->class_name.length};

	if (rule_match(r, &t))
		return 1;
	t.length = m->class_name.length + 1 + m->name.length;
	if (t.length <= length && rule_match(r, &t))
		return 1;
	t.length += m->descriptor.length;
	return t.length <= length && memchr(r->pattern, '(', r->length) && rule_match(r, &t);
}

static int method_match(const struct choice_rule *r, const struct choice_method *m,
			const char *full, size_t length)
{
	switch (r->kind) {
	case CHOICE_ANNOTATION:
		return any_match(r, m->annotations, m->nr_annotations);
	case CHOICE_SUBTYPES:
		return any_match(r, m->supers, m->nr_supers);
	default:
		return name_match(r, m, full, length);
	}
}

static int rule_any(const struct choice_rule *r)
{
	return 1;
}

static int rule_marks(const struct choice_rule *r)
{
	return (r->result & CHOICE_MARK) != 0;
}

static int rule_has_values(const struct choice_rule *r)
{
	return r->has_values;
}

/* The last rule for which @is holds that matches the method; NULL: none does. */
static const struct choice_rule *rule_find(const struct choice *c, const struct choice_method *m,
					   int (*is)(const struct choice_rule *r))
{
	size_t length = m->class_name.length + 1 + m->name.length + m->descriptor.length;
	const struct choice_rule *r = NULL;
	unsigned int i = c->nr_rules;
	char buffer[2048], *full = length <= sizeof(buffer) ? buffer : malloc(length), *p = full;

	if (!full)
		return NULL;
	memcpy(p, m->class_name.text, m->class_name.length);
	p += m->class_name.length;
	*p++ = '.';
	memcpy(p, m->name.text, m->name.length);
	memcpy(p + m->name.length, m->descriptor.text, m->descriptor.length);
	while (i-- && !r)
		if (is(&c->rules[i]) && method_match(&c->rules[i], m, full, length))
			r = &c->rules[i];
	if (full != buffer)
		free(full);
	return r;
}

unsigned int choice_of(const struct choice *c, const struct choice_method *m)
{
	const struct choice_rule *r = rule_find(c, m, rule_any);

	if (!r || r->result == CHOICE_NOT || (m->code_bytes <= c->size && !r->exact))
		return CHOICE_NOT;
	return r->result | (rule_find(c, m, rule_marks) ? CHOICE_MARK : 0);
}

const struct choice_values *choice_values(const struct choice *c, const struct choice_method *m)
{
	const struct choice_rule *r = rule_find(c, m, rule_has_values);

	return r && (r->values.receiver || r->values.all || r->values.nr_arguments) ? &r->values
										    : NULL;
}

int choice_needs(const struct choice *c, unsigned int first, enum choice_kind kind)
{
	for (; first < c->nr_rules; first++)
		if (c->rules[first].kind == kind)
			return 1;
	return 0;
}

/* Does it match a method of the class, whatever that is called? What is behind the last dot may be
 * the method, or begin in the class with two stars. */
static int class_match(const struct choice_rule *r, const char *name, size_t length)
{
	const char *descriptor = memchr(r->pattern, '(', r->length);
	size_t end = descriptor ? (size_t)(descriptor - r->pattern) : r->length, at, i;

	if (choice_match(r->pattern, r->length, name, length))
		return 1;
	for (at = end; at && r->pattern[at - 1] != '.'; at--)
		;
	if (at && choice_match(r->pattern, at - 1, name, length))
		return 1;
	for (i = at; i + 1 < end; i++)
		if (r->pattern[i] == '*' && r->pattern[i + 1] == '*')
			return choice_match(r->pattern, i + 2, name, length);
	return 0;
}

int choice_concerns(const struct choice *c, unsigned int first, const char *name, size_t length)
{
	for (; first < c->nr_rules; first++) {
		const struct choice_rule *r = &c->rules[first];

		if (r->kind == CHOICE_NAME && class_match(r, name, length))
			return 1;
	}
	return 0;
}

int choice_class(const struct choice *c, const char *name, size_t length)
{
	unsigned int i = c->nr_rules;

	while (i--) {
		const struct choice_rule *r = &c->rules[i];

		if (r->kind != CHOICE_NAME)
			continue;
		if (r->result != CHOICE_NOT && class_match(r, name, length))
			return 1;
		/* A rule that matches the class matches all of its methods. */
		if (r->result == CHOICE_NOT && choice_match(r->pattern, r->length, name, length))
			return 0;
	}
	return 0;
}
