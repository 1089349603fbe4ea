/* SPDX-License-Identifier: MIT */
#include "guard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jis/events.h"
#include "trace/decode.h"

#define NUMBERS_MAX (1u << 24)
#define PAIR_DEFAULT_PS 60000u /* until the agent has told: the dearest way */
#define PAIR_MAX_PS 100000000u
/* So much of the budget is used after a decision, so that the next is not needed at once. */
#define AIM_PERCENT 80
/* What a pair costs has been measured in a loop that does nothing else, on an idle CPU. Among a
 * server's own work it is more: caches are shared, the clock waits for what goes on, and what the
 * compiler no longer inlines is lost. Of all methods it was some 5/4 of that, of those that are
 * left when the short ones are off up to 2.6 times: what the budget is about. That was when the
 * trial took a longer way than calls do; both are 4/3 of what they were then, on the safe side.
 * docs/benchmarks.md, "Methods of a server". */
#define OF_ALL_PERCENT 167
#define OF_LEFT_PERCENT 300
/* A program that does little but calls may seem to use less than nothing without them. */
#define WITHOUT_MIN_PERCENT 5
#define SHARE_MAX 1000

struct guard {
	uint32_t budget;
	uint32_t decisions;
	uint64_t pair;	 /* picoseconds of an enter and its exit */
	uint64_t *calls; /* by number, in this window */
	uint8_t *off;
	uint32_t room;
	uint64_t total;
	struct guard_now begin;
};

struct guard *guard_new(uint32_t budget)
{
	struct guard *g = calloc(1, sizeof(*g));

	if (g) {
		g->budget = budget;
		g->pair = PAIR_DEFAULT_PS;
	}
	return g;
}

void guard_free(struct guard *g)
{
	if (g) {
		free(g->calls);
		free(g->off);
	}
	free(g);
}

static int room_make(struct guard *g, uint32_t number)
{
	uint32_t room = g->room ? g->room : 1024;
	uint64_t *calls;
	uint8_t *off;

	while (room <= number)
		room *= 2;
	calls = realloc(g->calls, room * sizeof(*calls));
	if (calls)
		g->calls = calls;
	off = realloc(g->off, room);
	if (off)
		g->off = off;
	if (!calls || !off)
		return 0;
	memset(calls + g->room, 0, (room - g->room) * sizeof(*calls));
	memset(off + g->room, 0, room - g->room);
	g->room = room;
	return 1;
}

static void count(struct guard *g, const uint8_t *payload)
{
	uint32_t number = record_word(payload);

	if (number >= NUMBERS_MAX || (number >= g->room && !room_make(g, number)))
		return;
	g->calls[number]++;
	g->total++;
}

static void on_record(struct guard *g, const struct record *r)
{
	struct jis_ev_method_probe probe;

	if (r->id == JIS_EV_method_enter) {
		count(g, r->payload);
	} else if (r->id == JIS_EV_method_probe && r->payload_size >= sizeof(probe)) {
		memcpy(&probe, r->payload, sizeof(probe));
		if (probe.pair && probe.pair < PAIR_MAX_PS)
			g->pair = probe.pair;
	}
}

void guard_packet(struct guard *g, const struct jis_packet_header *packet, uint32_t skip)
{
	const uint8_t *p = (const uint8_t *)packet + JIS_PACKET_HEADER_SIZE + skip;
	const uint8_t *end = (const uint8_t *)packet + packet->content_size / 8;
	struct record r = {.time = 0};
	const char *why;
	uint32_t size;
	int n;

	while (p + RECORD_COMPACT_HEADER <= end) {
		size = record_sizes[JIS_STREAM_USER][record_word(p) & 31];
		if (size != RECORD_SPECIAL && size <= (size_t)(end - p) - RECORD_COMPACT_HEADER) {
			r.id = record_word(p) & 31;
			r.payload = p + RECORD_COMPACT_HEADER;
			r.payload_size = size;
			n = (int)(size + RECORD_COMPACT_HEADER);
		} else {
			n = record_decode(JIS_STREAM_USER, &r, p, end, &why);
		}
		if (n <= 0)
			return;
		on_record(g, &r);
		p += n;
	}
}

/* Decisions ---------------------------------------------------------------------------------- */

struct candidate {
	uint32_t number;
	uint64_t calls;
};

static int by_calls(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->calls != y->calls)
		return x->calls < y->calls ? 1 : -1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* What @calls cost, ns, at @percent of what they do in a loop. Losses are spread over all. */
static double cost(const struct guard *g, double calls, uint64_t lost, unsigned int percent)
{
	double scale = g->total ? ((double)g->total + (double)lost) / (double)g->total : 1;

	return calls * scale * (double)g->pair / 1000 * percent / 100;
}

/*
 * What part of its CPU time a process will need for the same when its JIT is done. Rewriting a
 * class throws away what was compiled of it, and a recording begins with rewriting: what is chosen
 * meanwhile should fit afterwards, or each further choice throws away the next. Where the compilers
 * take the part x of the process, it was (1 - x)^2 of it: without them, and as much again less of
 * the rest as less is interpreted. docs/benchmarks.md, "Methods of a server".
 */
static double when_compiled(const struct guard_now *spent)
{
	double others = spent->jit < spent->cpu ? (double)(spent->cpu - spent->jit) : 0;
	double part = spent->cpu ? others / (double)spent->cpu : 1;

	return part * part;
}

/* What @calls cost, in percent of what the process would have used without any. */
static double share_of(const struct guard *g, double calls, const struct guard_now *spent)
{
	double least = (double)spent->cpu * WITHOUT_MIN_PERCENT / 100;
	double without =
		((double)spent->cpu - cost(g, (double)g->total, spent->lost, OF_ALL_PERCENT)) *
		when_compiled(spent);
	double percent = cost(g, calls, spent->lost, OF_LEFT_PERCENT) * 100;

	if (without < least)
		without = least;
	return percent < without * SHARE_MAX ? percent / without : without > 0 ? SHARE_MAX : 0;
}

static unsigned int candidates(const struct guard *g, struct candidate *out)
{
	unsigned int n = 0;
	uint32_t i;

	for (i = 0; i < g->room; i++)
		if (g->calls[i] && !g->off[i])
			out[n++] = (struct candidate){i, g->calls[i]};
	qsort(out, n, sizeof(*out), by_calls);
	return n;
}

/* Takes methods until the rest is within the budget; returns how many. */
static unsigned int choose(struct guard *g, const struct candidate *c, unsigned int nr,
			   const struct guard_now *spent, char *text, size_t n)
{
	double left = (double)g->total;
	unsigned int i;
	size_t used = 0;
	int length;

	for (i = 0; i < nr && used + 64 < n; i++) {
		if (share_of(g, left, spent) * 100 <= (double)g->budget * AIM_PERCENT)
			break;
		length =
			snprintf(text + used, n - used, "%s%u:%llu:%llu", i ? "," : "", c[i].number,
				 (unsigned long long)c[i].calls, (unsigned long long)spent->time);
		used += (size_t)length;
		left -= (double)c[i].calls;
		g->off[c[i].number] = 1;
	}
	return i;
}

static void window_begin(struct guard *g, const struct guard_now *now)
{
	if (g->calls)
		memset(g->calls, 0, g->room * sizeof(*g->calls));
	g->total = 0;
	g->begin = *now;
}

bool guard_due(const struct guard *g, uint64_t time)
{
	return g->decisions < GUARD_DECISIONS &&
	       (!g->begin.time || time - g->begin.time >= GUARD_WINDOW_NS);
}

unsigned int guard_decide(struct guard *g, const struct guard_now *now, char *text, size_t n,
			  uint32_t *share)
{
	struct guard_now spent = {now->time - g->begin.time, now->cpu - g->begin.cpu,
				  now->lost - g->begin.lost,
				  now->jit > g->begin.jit ? now->jit - g->begin.jit : 0};
	struct candidate *c = NULL;
	unsigned int chosen = 0;
	double percent;

	if (!guard_due(g, now->time))
		return 0;
	if (!g->begin.time) {
		window_begin(g, now);
		return 0;
	}
	percent = share_of(g, (double)g->total, &spent);
	if (percent > g->budget)
		c = malloc((g->room + 1) * sizeof(*c));
	if (c) {
		chosen = choose(g, c, candidates(g, c), &spent, text, n);
		g->decisions += chosen > 0;
	}
	*share = (uint32_t)percent;
	free(c);
	window_begin(g, now);
	return chosen;
}
