/* SPDX-License-Identifier: MIT */
/*
 * Values of calls: what was recorded before an entry, as text, until the call takes it along. Their
 * number is bounded: what nobody had before is, beyond it, told as one.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "callstack.h"

#define MAX_TEXTS (1u << 20)
#define OTHERS "(other values)"
#define TEXT_ROOM (6 * JIS_STRING_MAX + 64)

/* Text --------------------------------------------------------------------------------------- */

static int real_text(char *out, size_t n, double value, int precision, bool single)
{
	int length = 0;

	if (value != value)
		return snprintf(out, n, "NaN");
	if (value > __DBL_MAX__ || value < -__DBL_MAX__)
		return snprintf(out, n, "%sInfinity", value < 0 ? "-" : "");
	/* The shortest that is read as the same. */
	for (int digits = 1; digits <= precision; digits++) {
		length = snprintf(out, n, "%.*g", digits, value);
		if (single ? strtof(out, NULL) == (float)value : strtod(out, NULL) == value)
			break;
	}
	if (!strpbrk(out, ".e"))
		length += snprintf(out + length, n - (size_t)length, ".0");
	return length;
}

static int float_text(char *out, size_t n, uint64_t bits)
{
	uint32_t low = (uint32_t)bits;
	float value;

	memcpy(&value, &low, sizeof(value));
	return real_text(out, n, (double)value, 9, true);
}

static int double_text(char *out, size_t n, uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return real_text(out, n, value, 17, false);
}

static int char_text(char *out, size_t n, uint32_t c)
{
	if (c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0xd800 && c < 0xe000) || c > 0xffff)
		return snprintf(out, n, "'\\u%04x'", c & 0xffff);
	if (c < 0x80)
		return snprintf(out, n, "'%c'", (int)c);
	if (c < 0x800)
		return snprintf(out, n, "'%c%c'", (int)(0xc0 | c >> 6), (int)(0x80 | (c & 0x3f)));
	return snprintf(out, n, "'%c%c%c'", (int)(0xe0 | c >> 12), (int)(0x80 | (c >> 6 & 0x3f)),
			(int)(0x80 | (c & 0x3f)));
}

/* "[[I" of length 5 is int[5][]. */
static int array_text(char *out, size_t n, const char *class_name, uint32_t length)
{
	static const char letters[] = "ZBCSIJFD";
	static const char *const names[] = {"boolean", "byte", "char",	"short",
					    "int",     "long", "float", "double"};
	size_t dimensions = strspn(class_name, "["), size = strlen(class_name);
	const char *element = class_name + dimensions, *letter;
	int used;

	letter = *element && !element[1] ? strchr(letters, *element) : NULL;
	if (letter)
		used = snprintf(out, n, "%s[%u]", names[letter - letters], length);
	else if (dimensions && *element == 'L' && class_name[size - 1] == ';')
		used = snprintf(out, n, "%.*s[%u]", (int)(size - dimensions - 2), element + 1,
				length);
	else
		used = snprintf(out, n, "%s[%u]", *class_name ? class_name : "?", length);
	while (dimensions-- > 1 && (size_t)used + 3 < n)
		used += snprintf(out + used, n - (size_t)used, "[]");
	return used;
}

static uint32_t utf16_length(const char *text)
{
	uint32_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80 ? 1 + ((unsigned char)*text >= 0xf0) : 0;
	return n;
}

/* As in a program's source. */
static void escape(char *out, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			out += sprintf(out, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			out += sprintf(out, "\\u%04x", c);
		else if (c == 0xc2 && (unsigned char)text[1] >= 0x80 &&
			 (unsigned char)text[1] < 0xa0)
			out += sprintf(out, "\\u%04x", (unsigned char)*++text);
		else
			*out++ = (char)c;
	}
	*out = '\0';
}

/* As much as there is; where that is not all, length and hash tell it from others. */
static int string_text(char *out, size_t n, const struct jis_ev_method_value *ev)
{
	char text[6 * JIS_STRING_MAX];

	escape(text, ev->text);
	if (utf16_length(ev->text) >= ev->length)
		return snprintf(out, n, "\"%s\"", text);
	if (!*text)
		return snprintf(out, n, "String(%u)#%016" PRIx64, ev->length, (uint64_t)ev->value);
	return snprintf(out, n, "\"%s\"...(%u)#%016" PRIx64, text, ev->length, (uint64_t)ev->value);
}

static int value_text(const struct model *m, uint32_t process, const struct jis_ev_method_value *ev,
		      char *out, size_t n)
{
	const char *class_name = model_name(m, string_name(m, process, ev->class_name));

	switch (ev->kind) {
	case JIS_VALUE_BOOLEAN:
		return snprintf(out, n, "%s", ev->value ? "true" : "false");
	case JIS_VALUE_BYTE:
	case JIS_VALUE_SHORT:
	case JIS_VALUE_INT:
	case JIS_VALUE_LONG:
		return snprintf(out, n, "%" PRId64, (int64_t)ev->value);
	case JIS_VALUE_CHAR:
		return char_text(out, n, (uint32_t)ev->value);
	case JIS_VALUE_FLOAT:
		return float_text(out, n, ev->value);
	case JIS_VALUE_DOUBLE:
		return double_text(out, n, ev->value);
	case JIS_VALUE_NULL:
		return snprintf(out, n, "null");
	case JIS_VALUE_OBJECT:
		return snprintf(out, n, "%s@%" PRIx64, *class_name ? class_name : "?",
				(uint64_t)ev->value);
	case JIS_VALUE_ARRAY:
		return array_text(out, n, class_name, ev->length);
	case JIS_VALUE_STRING:
		return string_text(out, n, ev);
	default:
		return snprintf(out, n, "?");
	}
}

static uint32_t text_intern(struct model *m, const char *text, size_t length)
{
	uint32_t name = name_find(m, text, length);

	if (name)
		return name;
	if (m->methods->texts >= MAX_TEXTS)
		return name_intern(m, OTHERS, sizeof(OTHERS) - 1);
	m->methods->texts++;
	return name_intern(m, text, length);
}

/* Calls -------------------------------------------------------------------------------------- */

static struct values *values_new(struct model *m, uint32_t id)
{
	struct values *v = m->methods->spare_values;

	if (v)
		m->methods->spare_values = v->next;
	else
		v = malloc(sizeof(*v));
	if (!v) {
		m->error = -ENOMEM;
		return NULL;
	}
	v->id = id;
	v->nr = 0;
	return v;
}

void values_free(struct model *m, struct values *v)
{
	if (!v)
		return;
	v->next = m->methods->spare_values;
	m->methods->spare_values = v;
}

struct values *values_take(struct model *m, struct callstack *s, uint32_t id)
{
	struct values *v = s->values;

	s->values = NULL;
	if (!v || v->id == id)
		return v;
	values_free(m, v);
	return NULL;
}

void value_add(struct model *m, struct callstack *s, uint32_t process,
	       const struct jis_ev_method_value *ev)
{
	char text[TEXT_ROOM];
	uint32_t i = 0;
	int n;

	if (!s->values || s->values->id != ev->method) {
		values_free(m, s->values);
		s->values = values_new(m, ev->method);
	}
	if (!s->values)
		return;
	/* The same one again: of a call whose entry is lost. */
	while (i < s->values->nr && s->values->of[i].argument != ev->argument)
		i++;
	if (i < s->values->nr)
		s->values->nr = 0;
	else if (i == MODEL_MAX_VALUES)
		return;
	n = value_text(m, process, ev, text, sizeof(text));
	if ((size_t)n >= sizeof(text))
		n = (int)sizeof(text) - 1;
	s->values->of[s->values->nr++] =
		(struct model_value){.argument = ev->argument,
				     .text = text_intern(m, text, (size_t)n)};
}
