/* SPDX-License-Identifier: MIT */
/*
 * `jis why` in words: what each part of a path is called, and the answer in one sentence.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "why.h"

#define TEXT_SIZE WHY_TEXT_SIZE
#define UNKNOWN_REASON "blocked, not known why"

bool why_is_wait(uint8_t state)
{
	return state == MODEL_BLOCKED_INTERRUPTIBLE || state == MODEL_BLOCKED_UNINTERRUPTIBLE ||
	       state == MODEL_STOPPED;
}

/* What it is called -------------------------------------------------------------------------- */

__attribute__((format(printf, 3, 4))) static void add(char *text, size_t n, const char *format, ...)
{
	size_t used = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + used, n - used, format, args);
	va_end(args);
}

static void add_running(const struct why *w, const struct lanes_why *why, char *text, size_t n)
{
	const char *call;

	switch ((enum model_reason_kind)(why ? why->kind : MODEL_RUN)) {
	case MODEL_RUN:
		add(text, n, "running");
		break;
	case MODEL_RUN_SYSCALL:
		call = model_syscall_name(w->model, why->syscall);
		add(text, n, "running in system call %s", call ? call : "of unknown name");
		if (why->name)
			add(text, n, " (%s)", model_name(w->model, why->name));
		break;
	case MODEL_RUN_GC:
	case MODEL_RUN_JIT:
	case MODEL_RUN_VM_OPERATION:
	case MODEL_RUN_VM_OTHER:
		add(text, n, "running: %s", model_reason_name((enum model_reason_kind)why->kind));
		break;
	default:
		add(text, n, "running %s", model_reason_name((enum model_reason_kind)why->kind));
	}
}

static void add_wait(const struct why *w, const struct lanes_why *why, char *text, size_t n)
{
	const char *call = NULL;

	if (why->kind == MODEL_WAIT_UNKNOWN)
		add(text, n, UNKNOWN_REASON);
	else
		add(text, n, "%s", model_reason_name((enum model_reason_kind)why->kind));
	if (why->class_name)
		add(text, n, " %s", model_name(w->model, why->class_name));
	if (why->name)
		add(text, n, " %s", model_name(w->model, why->name));
	if (why->syscall > 0 || why->kind == MODEL_WAIT_SYSCALL)
		call = model_syscall_name(w->model, why->syscall);
	if (call)
		add(text, n, " (%s)", call);
}

static const char *call_name(const struct why *w, const struct hop_call *call)
{
	return call->method ? model_name(w->model, call->method) : "(not known)";
}

/* The call, and in what the client waits for its answer. */
static void add_remote(const struct why *w, const struct why_what *what, char *text, size_t n)
{
	add(text, n, "remote call %s (", call_name(w, &what->call));
	add_wait(w, lanes_why(w->lanes, what->why), text, n);
	add(text, n, ")");
}

static bool is_sleep(uint32_t kind)
{
	return kind == MODEL_WAIT_SLEEP || kind == MODEL_WAIT_TIMER;
}

/* Does a softirq tell that something came from the network? */
static bool is_network(uint32_t kind)
{
	return (kind >= MODEL_WAIT_SOCKET_READ && kind <= MODEL_WAIT_POLL);
}

static void add_end(uint32_t kind, const struct why_what *what, char *text, size_t n)
{
	const char *by = what->by ? what->by : "";

	switch ((enum path_end)what->ended) {
	case PATH_THREAD:
		add(text, n, " ended by %s", by);
		break;
	case PATH_HOLDER:
		add(text, n, " held by %s", by);
		break;
	case PATH_DEEP:
		add(text, n, " ended by %s (not followed)", by);
		break;
	case PATH_SENDER:
		add(text, n, ", sent by %s", by);
		break;
	case PATH_OWNER:
		add(text, n, " held by %s when the wait began", by);
		break;
	case PATH_REMOTE:
		add(text, n, " served by %s", by);
		break;
	case PATH_REQUEST:
		add(text, n, ", the request on its way to %s", by);
		break;
	case PATH_ANSWER:
		add(text, n, ", the answer on its way from %s", by);
		break;
	case PATH_PARENT:
		add(text, n, ", that was to be done by %s", by);
		break;
	case PATH_TIMER:
		if (!is_sleep(kind))
			add(text, n, " ended by a timer");
		break;
	case PATH_SOFTIRQ:
		add(text, n, is_network(kind) ? " ended by the network" : " ended by a softirq");
		break;
	case PATH_HARDIRQ:
	case PATH_NMI:
		add(text, n, " ended by an interrupt");
		break;
	case PATH_FOREIGN:
		add(text, n, " ended by %s, which was not recorded", by);
		break;
	case PATH_IDLE:
		add(text, n, " ended by the idle task");
		break;
	case PATH_OPEN:
		add(text, n, ", not known who ended it");
		break;
	case PATH_CYCLE:
		add(text, n, " ended by %s, which waits itself: the records contradict", by);
		break;
	case PATH_BEHIND_THREAD:
	case PATH_BEHIND_FOREIGN:
		add(text, n, " behind %s", by);
		break;
	case PATH_BEHIND_IDLE:
		add(text, n, ", the CPU was idle");
		break;
	case PATH_NONE:
	case PATH_NR_ENDS:
		break;
	}
}

const char *why_what_text(const struct why *w, const struct why_what *what, char *text, size_t n)
{
	const struct lanes_why *why =
		what->why == UINT32_MAX ? NULL : lanes_why(w->lanes, what->why);

	text[0] = 0;
	if (what->state == MODEL_RUNNING)
		add_running(w, why, text, n);
	else if (why_is_wait(what->state) && what->call.kind == HOP_FOLLOWED)
		add_remote(w, what, text, n);
	else if (why_is_wait(what->state) && why)
		add_wait(w, why, text, n);
	else if (what->state == MODEL_NOT_CREATED)
		add(text, n, "not created yet");
	else
		add(text, n, "%s", model_state_name((enum model_state_kind)what->state));
	if (what->state == MODEL_READY) {
		if (what->flags & SEGMENT_THROTTLED)
			add(text, n, ", throttled");
		else if (what->flags & SEGMENT_TO_MOUNT)
			add(text, n, " to be mounted");
		else if (!why)
			add(text, n, ", being woken");
		else if (why->kind == MODEL_READY_TO_MOUNT)
			add(text, n, " to be mounted");
		else if (why->kind == MODEL_READY_PREEMPTED)
			add(text, n, ", preempted");
		else if (why->kind == MODEL_READY_YIELDED)
			add(text, n, ", having yielded");
	}
	if (what->flags & SEGMENT_PINNED && why_is_wait(what->state))
		add(text, n, ", pinned");
	if (what->flags & SEGMENT_SAMPLED)
		add(text, n, " (sampled)");
	add_end(why ? why->kind : 0, what, text, n);
	if (what->call.kind == HOP_ALONE)
		add(text, n, ", in remote call %s: %s", call_name(w, &what->call),
		    hop_alone_name(&what->call));
	return text;
}

struct why_what why_of_row(const struct path_rows *rows, const struct path_row *row)
{
	return (struct why_what){.why = row->key.why,
				 .state = row->key.state,
				 .ended = row->key.ended,
				 .flags = row->key.flags,
				 .call = row->key.call,
				 .by = path_rows_name(rows, row->key.by)};
}

const char *why_row_text(const struct why *w, const struct path_rows *rows,
			 const struct path_row *row, char *text, size_t n)
{
	const struct why_what what = why_of_row(rows, row);

	if (!row->key.others)
		return why_what_text(w, &what, text, n);
	snprintf(text, n, "all the rest");
	return text;
}

const char *why_step_text(const struct why *w, const struct path_step *s, uint32_t home, char *text,
			  size_t n)
{
	struct why_what what = {.why = s->why,
				.state = s->state,
				.ended = s->ended,
				.flags = s->flags,
				.call = s->call};
	char by[TEXT_SIZE];

	if (s->ended == PATH_FOREIGN || s->ended == PATH_BEHIND_FOREIGN)
		what.by = path_foreign_text(w->info, s->foreign, s->tid, false, by, sizeof(by));
	else
		what.by = path_who_away_text(w->model, w->info, s->by, home, false, by, sizeof(by));
	return why_what_text(w, &what, text, n);
}

void why_title(const struct why *w, const struct why_interval *i, FILE *out)
{
	char who[TEXT_SIZE];

	if (i->name) {
		fputs(i->marker ? "marker \"" : "span \"", out);
		cli_print_escaped(out, i->name);
		fputs("\" of ", out);
	}
	cli_print_escaped(out, path_who_text(w->model, w->info, i->who, false, who, sizeof(who)));
}

/* The answer --------------------------------------------------------------------------------- */

struct sums {
	uint64_t running, ready, waiting, unknown, whole;
};

static struct sums sum_up(const struct path_row *const *rows, uint32_t nr)
{
	struct sums s = {0};

	for (uint32_t i = 0; i < nr; i++) {
		const struct path_row *row = rows[i];

		if (row->key.parent != PATH_NO_ROW)
			continue;
		s.whole += row->time;
		if (why_is_wait(row->key.state))
			s.waiting += row->time;
		else if (row->key.state == MODEL_RUNNING)
			s.running += row->time;
		else if (row->key.state == MODEL_READY)
			s.ready += row->time;
		else if (row->key.state == MODEL_UNKNOWN)
			s.unknown += row->time;
	}
	return s;
}

static void print_ns(FILE *out, uint64_t ns)
{
	char text[32];

	fputs(cli_format_ns(text, sizeof(text), ns), out);
}

/* Rows below one that say the same, whoever's they are. */
struct alike {
	const struct path_row *first; /* the longest */
	uint64_t time;
	bool mixed; /* of several threads */
};

static bool are_alike(const struct path_row *a, const struct path_row *b)
{
	if (why_is_wait(a->key.state) || why_is_wait(b->key.state))
		return a->key.state == b->key.state && a->key.why == b->key.why &&
		       a->key.ended == b->key.ended;
	return a->key.state == b->key.state;
}

#define MAX_ALIKE 64

/* What the time of row @i went to for the most part. */
static struct alike most_below(const struct path_row *const *list, uint32_t nr, uint32_t i)
{
	struct alike kinds[MAX_ALIKE], most = {0};
	uint32_t n = 0;

	for (uint32_t k = i + 1; k < nr && list[k]->key.parent != PATH_NO_ROW; k++) {
		uint32_t at = 0;

		while (at < n && !are_alike(kinds[at].first, list[k]))
			at++;
		if (at == MAX_ALIKE || list[k]->key.others)
			continue;
		if (at == n)
			kinds[n++] = (struct alike){.first = list[k]};
		kinds[at].mixed |= kinds[at].first->key.who != list[k]->key.who;
		kinds[at].time += list[k]->time;
	}
	for (uint32_t k = 0; k < n; k++)
		if (kinds[k].time > most.time)
			most = kinds[k];
	return most;
}

/* In a sentence: "for monitor ...", "for reasons not known ...". */
static void print_for(FILE *out, const char *text)
{
	size_t unknown = strlen(UNKNOWN_REASON);

	fputs(" for ", out);
	if (!strncmp(text, UNKNOWN_REASON, unknown)) {
		fputs("reasons not known", out);
		text += unknown;
	}
	cli_print_escaped(out, text);
}

/* ", and in the end exec-9 waited 3 ms for ...": what was really waited for in row @i. */
static void answer_below(const struct why *w, const struct path_rows *rows,
			 const struct path_row *const *list, uint32_t nr, uint32_t i, FILE *out)
{
	const struct alike most = most_below(list, nr, i);
	const struct path_row *leaf = most.first;
	const char *who, *by = path_rows_name(rows, list[i]->key.by);
	char text[TEXT_SIZE];

	if (!leaf || most.time < list[i]->time / 4)
		return;
	who = path_rows_name(rows, leaf->key.who);
	fputs(strcmp(who, by) != 0 || most.mixed ? ", and in the end " : ", which", out);
	if (strcmp(who, by) != 0 || most.mixed)
		cli_print_escaped(out, who);
	if (most.mixed)
		fputs(" and others", out);
	if (leaf->key.state == MODEL_READY) {
		fputs(" waited ", out);
		print_ns(out, most.time);
		fputs(" for a CPU", out);
	} else if (leaf->key.why != UINT32_MAX &&
		   is_sleep(lanes_why(w->lanes, leaf->key.why)->kind)) {
		fputs(" slept ", out);
		print_ns(out, most.time);
	} else if (why_is_wait(leaf->key.state)) {
		fputs(" waited ", out);
		print_ns(out, most.time);
		print_for(out, why_row_text(w, rows, leaf, text, sizeof(text)));
	} else {
		fputs(leaf->key.state == MODEL_RUNNING ? " ran for "
						       : " did what is not known for ",
		      out);
		print_ns(out, most.time);
	}
}

void why_answer(const struct why *w, const struct path_rows *rows, FILE *out)
{
	uint32_t nr, told = 0;
	const struct path_row **list = path_rows_sorted(rows, &nr);
	struct sums s = sum_up(list, nr);
	char text[TEXT_SIZE];

	if (s.waiting + s.ready >= s.running || s.waiting + s.ready >= s.whole / 10) {
		fputs("waited ", out);
		print_ns(out, s.waiting + s.ready);
	} else {
		fputs("ran ", out);
		print_ns(out, s.running);
	}
	fputs(" of ", out);
	print_ns(out, s.whole);
	if (s.unknown >= s.whole / 100 && s.unknown) {
		fputs(" (", out);
		print_ns(out, s.unknown);
		fputs(" are not known)", out);
	}
	for (uint32_t i = 0; list && i < nr && told < 3; i++) {
		const struct path_row *row = list[i];
		bool ready = row->key.state == MODEL_READY;

		if (row->key.parent != PATH_NO_ROW || (!why_is_wait(row->key.state) && !ready))
			continue;
		/* All that is ready at once, where the first of it comes. */
		if ((ready ? s.ready : row->time) < s.whole / 10)
			continue;
		fputs(told++ ? "; " : ": ", out);
		if (ready) {
			print_ns(out, s.ready);
			fputs(" for a CPU", out);
			s.ready = 0;
			continue;
		}
		print_ns(out, row->time);
		print_for(out, why_row_text(w, rows, row, text, sizeof(text)));
		answer_below(w, rows, list, nr, i, out);
	}
	free(list);
}
