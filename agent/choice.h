/* SPDX-License-Identifier: MIT */
/*
 * Which methods are traced: an ordered list of rules, of which the last that matches a method
 * decides. Knows nothing of a running JVM, nor of class files.
 *
 * A rule is one word; words are separated by commas or white space:
 *
 * - PATTERN traces what it matches, !PATTERN does not;
 * - library:PATTERN traces it where no other such method is under way in the thread;
 * - mark:PATTERN traces it, as one that is marked;
 * - arguments:LIST:PATTERN traces it, and tells values of its calls: LIST has, with + between
 *   them, numbers of arguments from 0 on, `this`, `all` (the arguments), or is `none`;
 *
 * and for the whole list:
 *
 * - strings:N tells the first N characters of texts among the values;
 * - size>N leaves out methods of N bytes of code or fewer, save those that a rule without
 *   wildcards names;
 * - intrinsics takes methods, too, that compilers may replace by code of their own.
 *
 * PATTERN is matched against a method's class (com.acme.Outer$Inner), its class and name
 * (com.acme.Service.handle, .<init>, .<clinit>), or these and its descriptor
 * (com.acme.Service.handle(I)V). Marks and values stay with a method that a later rule traces; of
 * several lists of values the last one counts. In it ? is one character but a dot, * any but dots,
 * ** any; .* at its end is .**, so that com.acme.* is all below com.acme. Instead of it:
 *
 * - annotation:PATTERN: methods with an annotation whose class it matches, and all of such classes;
 * - subtypes:PATTERN: methods of the classes that it matches, and of all below them.
 */
#ifndef JIS_AGENT_CHOICE_H
#define JIS_AGENT_CHOICE_H

#include <stddef.h>
#include <stdint.h>

enum choice_kind { CHOICE_NAME, CHOICE_ANNOTATION, CHOICE_SUBTYPES };

/* What a rule makes of a method: flags. */
enum choice_result { CHOICE_NOT = 0, CHOICE_TRACED = 1, CHOICE_LIBRARY = 2, CHOICE_MARK = 4 };

/* Values that a call can tell: arguments by their numbers, and the receiver. */
#define CHOICE_VALUES_MAX 8u
#define CHOICE_ARGUMENT_MAX 254u

struct choice_values {
	uint8_t receiver;
	uint8_t all;	      /* arguments, as far as there is room */
	uint8_t nr_arguments; /* with the receiver at most CHOICE_VALUES_MAX */
	uint8_t arguments[CHOICE_VALUES_MAX];
};

struct choice_rule {
	enum choice_kind kind;
	unsigned int result; /* enum choice_result */
	int exact;	     /* without wildcards */
	int has_values;
	struct choice_values values;
	char *pattern;
	size_t length;
};

struct choice {
	struct choice_rule *rules;
	unsigned int nr_rules;
	uint32_t size;	  /* methods of no more bytes are left out */
	uint32_t strings; /* characters of texts that are told */
	int intrinsics;	  /* methods marked IntrinsicCandidate too */
};

struct choice_text {
	const char *text; /* need not end in NUL */
	size_t length;
};

/* A method. Names are dotted. */
struct choice_method {
	struct choice_text class_name, name, descriptor;
	uint32_t code_bytes;
	/* Of the method and of its class, as the class of each is named. */
	const struct choice_text *annotations;
	unsigned int nr_annotations;
	/* The class itself and all above it that are known. */
	const struct choice_text *supers;
	unsigned int nr_supers;
};

/**
 * choice_add - appends rules to the list, all or none.
 * Returns 0; -EINVAL with the reason in @why; -ENOMEM.
 */
int choice_add(struct choice *c, const char *text, char *why, size_t n);
void choice_free(struct choice *c);
/* Does a rule from number @first on need to know of annotations, or of classes above? */
int choice_needs(const struct choice *c, unsigned int first, enum choice_kind kind);
/* What becomes of the method; enum choice_result. */
unsigned int choice_of(const struct choice *c, const struct choice_method *m);
/* Which values a traced method tells; NULL: none. */
const struct choice_values *choice_values(const struct choice *c, const struct choice_method *m);
/* Can a method of that class be chosen by its name? Annotations and classes above are not looked
 * at: rules of those kinds are passed over. */
int choice_class(const struct choice *c, const char *name, size_t length);
/* Can a rule from number @first on match a method of that class, chosen or not? Likewise. */
int choice_concerns(const struct choice *c, unsigned int first, const char *name, size_t length);
/* Does the pattern match the text? */
int choice_match(const char *pattern, size_t length, const char *text, size_t text_length);

#endif /* JIS_AGENT_CHOICE_H */
