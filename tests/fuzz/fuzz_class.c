/* SPDX-License-Identifier: MIT */
/*
 * Mutates class files and rewrites them in full: nothing may crash or hang; a class is refused, or
 * what comes out parses, and is taken apart and written again without complaint. Meant for
 * SAN=address,undefined builds. Usage: fuzz_class ITERATIONS SEED [-o DIRECTORY] CLASS-FILE...
 * -o: keeps each mutated class and what became of it, as DIRECTORY/was/N and DIRECTORY/is/N, for
 * the JVM to judge.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/classfile.h"
#include "agent/methods_calls.h"

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s, seed %" PRIu64 "\n", __FILE__, __LINE__,       \
				#condition, this_seed);                                            \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

static uint64_t this_seed, nr_rewritten, nr_refused, nr_classes;
static const char *keep;

/* xorshift64* (Vigna). */
static uint64_t random_next(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dull;
}

static size_t random_below(uint64_t *state, size_t n)
{
	return n ? random_next(state) % n : 0;
}

static void mutate_once(uint8_t *bytes, size_t *size, uint64_t *random)
{
	static const uint8_t nasty[] = {0,   1,	  2,   0x7f, 0x80, 0xff, 0xfe, 18,  63,	 64,  127,
					167, 168, 170, 171,  177,  183,	 187,  194, 196, 247, 255};
	size_t at = random_below(random, *size), from = random_below(random, *size);
	size_t n = random_below(random, 16) + 1;

	n = n > *size - at ? *size - at : n;
	n = n > *size - from ? *size - from : n;
	switch (random_below(random, 16)) {
	case 0:
		*size = at;
		break;
	case 1:
		memmove(bytes + at, bytes + from, n);
		break;
	case 2:
		memset(bytes + at, nasty[random_below(random, sizeof(nasty))], n);
		break;
	case 3: /* another version */
		if (*size > 8)
			bytes[7] = (uint8_t)(44 + random_below(random, 27));
		break;
	case 4:
	case 5:
	case 6:
		bytes[at] ^= (uint8_t)(1u << random_below(random, 8));
		break;
	case 7:
	case 8:
	case 9:
		bytes[at] = (uint8_t)(bytes[at] + random_below(random, 5) - 2);
		break;
	default:
		bytes[at] = nasty[random_below(random, sizeof(nasty))];
	}
}

static void call_make(struct jis_call *call, unsigned int places, const char *method,
		      const char *descriptor, enum jis_arg_kind first, int more)
{
	call->places = places;
	call->class = PROBE_CLASS;
	call->method = method;
	call->descriptor = descriptor;
	call->nr_args = more ? 2 : 1;
	call->args[0] = (struct jis_arg){.kind = first, .value = 1000000};
	call->args[1] = (struct jis_arg){.kind = JIS_ARG_THIS};
}

/* The context says what to put in: a mask. */
static unsigned int choose(void *context, const struct jis_method *m, struct jis_call *calls)
{
	unsigned int mask = *(unsigned int *)context, n = 0;

	if (mask & 1)
		call_make(&calls[n++], JIS_AT_ENTRY, "enter", "(I)V", JIS_ARG_NUMBER, 0);
	if (mask & 2)
		call_make(&calls[n++], JIS_AT_EXIT, "exit", "(I)V", JIS_ARG_NUMBER, 0);
	if (mask & 4)
		call_make(&calls[n++], JIS_AT_LOCKED, "locked", "(Ljava/lang/Object;)V",
			  JIS_ARG_OBJECT, 0);
	if (mask & 8)
		call_make(&calls[n++], JIS_AT_UNLOCK, "unlock", "(Ljava/lang/Object;)V",
			  JIS_ARG_OBJECT, 0);
	if (mask & 16)
		call_make(&calls[n++], JIS_AT_EXIT, "left",
			  "(Ljava/lang/Object;Ljava/lang/Object;)V", JIS_ARG_RESULT, 1);
	if (mask & 32)
		n += methods_calls(&calls[n], PROBE_CLASS, 1000000, mask & 1);
	return n;
}

static void refused(void *context, const struct jis_method *m, const char *why)
{
	CHECK(why && *why);
	nr_refused++;
}

static int copy_make(const struct jis_bytes *in, struct jis_bytes *out)
{
	unsigned int nothing = 0;
	struct jis_plan plan = {.choose = choose, .context = &nothing, .options = JIS_PLAN_ALL};

	return jis_class_rewrite(in->data, in->size, &plan, out);
}

/*
 * The result parses; without calls, the rewriter takes apart at least the @n methods it wrote. What
 * it then writes it reads and writes again the same. (Methods it left alone may have been odd, say
 * in the padding of a switch, so that the first copy is another.)
 */
static void result_check(const struct jis_bytes *b, int n)
{
	struct jis_bytes copy = {0}, again = {0};
	struct jis_class c;

	CHECK(!jis_class_parse(&c, b->data, b->size));
	jis_class_free(&c);
	CHECK(copy_make(b, &copy) >= n);
	CHECK(copy_make(&copy, &again) >= n);
	CHECK(copy.size == again.size && !memcmp(copy.data, again.data, copy.size));
	jis_bytes_free(&copy);
	jis_bytes_free(&again);
}

static void file_keep(const char *folder, const void *bytes, size_t size)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s/%" PRIu64, keep, folder, nr_classes);
	f = fopen(path, "wb");
	if (!f || fwrite(bytes, 1, size, f) != size || fclose(f)) {
		perror(path);
		exit(1);
	}
}

static void one(const uint8_t *original, size_t size, uint64_t seed)
{
	uint64_t random = seed * 0x9e3779b97f4a7c15ull + 1;
	unsigned int mask = 1 + (unsigned int)random_below(&random, 63), i;
	struct jis_plan plan = {.choose = choose,
				.refused = refused,
				.context = &mask,
				.options = (unsigned int)random_below(&random, 4)};
	uint8_t *bytes = malloc(size + !size), *exact;
	struct jis_bytes out = {0};
	int n;

	CHECK(bytes);
	memcpy(bytes, original, size);
	for (i = (unsigned int)random_below(&random, 12); size && i--;)
		mutate_once(bytes, &size, &random);
	exact = malloc(size + !size); /* so that a sanitizer sees any step outside */
	CHECK(exact);
	memcpy(exact, bytes, size);
	n = jis_class_rewrite(exact, size, &plan, &out);
	CHECK((n > 0) == (out.size > 0));
	nr_rewritten += n > 0 ? (unsigned int)n : 0;
	nr_classes += n > 0;
	if (n > 0)
		result_check(&out, n);
	if (n > 0 && keep) {
		file_keep("was", exact, size);
		file_keep("is", out.data, out.size);
	}
	jis_bytes_free(&out);
	free(exact);
	free(bytes);
}

static uint8_t *file_load(const char *path, size_t *size)
{
	uint8_t *bytes;
	FILE *f = fopen(path, "rb");
	long n;

	if (!f || fseek(f, 0, SEEK_END) || (n = ftell(f)) <= 0) {
		perror(path);
		exit(1);
	}
	rewind(f);
	*size = (size_t)n;
	bytes = malloc(*size);
	if (!bytes || fread(bytes, 1, *size, f) != *size) {
		perror(path);
		exit(1);
	}
	fclose(f);
	return bytes;
}

int main(int argc, char **argv)
{
	uint64_t iterations = argc > 1 ? strtoull(argv[1], NULL, 0) : 1000, i;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	size_t size;
	uint8_t *bytes;
	int file = 3;

	if (argc > 4 && !strcmp(argv[3], "-o")) {
		keep = argv[4];
		file = 5;
	}
	if (argc <= file) {
		fprintf(stderr, "usage: fuzz_class ITERATIONS SEED [-o DIRECTORY] CLASS-FILE...\n");
		return 2;
	}
	for (; file < argc; file++) {
		bytes = file_load(argv[file], &size);
		for (i = 0; i < iterations; i++) {
			this_seed = seed * 1000003 + i;
			one(bytes, size, this_seed);
		}
		free(bytes);
	}
	printf("%" PRIu64 " classes and %" PRIu64 " methods rewritten, %" PRIu64
	       " methods refused\n",
	       nr_classes, nr_rewritten, nr_refused);
	return 0;
}
