/* SPDX-License-Identifier: MIT */
/* The inside of the Paraver export: rows, lines, files. */
#ifndef JIS_PARAVER_PRV_INT_H
#define JIS_PARAVER_PRV_INT_H

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "paraver.h"

#define NONE UINT32_MAX
#define LINE_ROOM 256 /* no line is longer, save the header, which prv_write() takes */
#define PREFIX_ROOM 40
#define OUT_BUFFER (256u << 10) /* stays in the cache */
#define NUMBER_MAX 10000000000000000ull
#define NUMBER_ROOM 28

#define LOW_TYPES 50000u
#define HIGH_TYPES (PARAVER_TYPE_MARKER_REST - PARAVER_TYPE_MARKER_HIGH)
#define HIGH_TABLE_BITS 17 /* more than twice HIGH_TYPES */

/*
 * A number below 10^16 as text, in registers: what is written to memory as bytes and read back at
 * once as words would wait for the store.
 */
struct prv_number {
	uint64_t head, low;	/* characters, the first one lowest; low: always eight */
	uint64_t head_len, len; /* characters in head, and in all */
};

/* One Paraver thread object. */
struct prv_row {
	char prefix[PREFIX_ROOM]; /* "appl:task:thread:" */
	uint8_t prefix_len;
	struct prv_number begin; /* last_end: where the next state begins */
	uint32_t owner;		 /* thread whose states are written now, as in prv.order */
	uint8_t run;		 /* last PARAVER_TYPE_RUN written */
	uint32_t first, nr;	 /* threads it is for: first in prv.order, how many */
	uint64_t last_end;	 /* ns since the window's begin */
	uint64_t last_taken;	 /* end of the last PARAVER_TYPE_SOCKET_FROM */
	uint64_t last_called, last_served; /* the same of PARAVER_TYPE_REMOTE_* */
};

struct prv_task {
	uint32_t process, first_row, nr_rows;
};

/* Lines of one output; the members are prv_out.c's, here for out_line() alone. */
struct prv_out {
	char *buffer;
	size_t used;
	uint64_t lines, bytes;
	struct sorter *sorter;
	int fd, error;
	void *gz;
};

struct paraver {
	struct paraver_options options;
	char *base;
	const struct model *model;
	const struct model_info *info;
	struct model_sink sink;
	struct paraver_stats stats;
	bool complete;

	struct prv_out *out;
	/* Times come nearly in order: the text of their upper digits is kept. */
	uint64_t upper;		      /* a multiple of 10^8 */
	struct prv_number upper_text; /* of a time from there on */
	struct prv_row *rows;	      /* threads, then CPUs */
	uint32_t nr_rows, nr_cpu_rows;
	struct prv_task *tasks;
	uint32_t nr_tasks;
	uint32_t *row_of;  /* [thread], NONE: no row */
	uint32_t *vrow_of; /* [virtual thread] */
	/* Threads, by row, then birth; nr_threads and up: virtual ones. */
	uint32_t *order;
	uint32_t *cpu_tid; /* [cpu]: last PARAVER_TYPE_CPU_THREAD written */

	uint8_t *low_used;	/* bit map of marker types below LOW_TYPES */
	uint32_t *marker_types; /* the others, in order of first use */
	uint32_t *marker_table; /* hash: index in marker_types + 1 */
	uint32_t nr_high;
	bool rest_used, used_gc, used_span, used_name, used_exec, used_phase;
	bool used_run, used_object, used_owner, used_peer, used_mounted, used_pinned, used_call;
	bool used_behind, used_stolen;
	bool used_task, used_method, used_remote;
	bool used_doings[PARAVER_TYPE_COMPILED_SIZE - PARAVER_TYPE_SAFEPOINT + 1];
	bool used_lock_taken, used_socket_taken, used_connection;
	bool used_reasons[MODEL_NR_REASONS]; /* as states */
	uint8_t calls[1024 / 8];	     /* bit map of those written */
};

/* Birth, death and name of a thread or, from info->nr_threads on, a virtual one. */
struct prv_life {
	uint32_t process;
	uint64_t birth, death;
};

/* A host, with its CPUs. */
struct prv_node {
	const char *name;
	uint32_t first_cpu, nr_cpus;
};

/* prv_objects.c ------------------------------------------------------------------------------ */

int objects_init(struct paraver *p);
void objects_fini(struct paraver *p);
/* Text of the header line, to be freed. */
char *objects_header(const struct paraver *p);
/* Hosts are numbered from 0, nodes from 1. */
uint32_t nodes_count(const struct paraver *p);
struct prv_node node_of(const struct paraver *p, uint32_t host);

/* pcf.c, row.c: write the files. Return 0 or -errno. */
int pcf_write(const struct paraver *p, FILE *f);
int row_write(const struct paraver *p, FILE *f);
/* Writes @text with control characters as \n, \t, \xNN. */
void label_write(FILE *f, const char *text);
int markers_init(struct paraver *p);
void markers_fini(struct paraver *p);
/* Paraver's number for marker type @type. */
uint32_t marker_type(struct paraver *p, uint32_t type);

struct prv_life life_of(const struct paraver *p, uint32_t index);
/* Writes the name of the first thread of @row. */
void row_label(const struct paraver *p, uint32_t row, FILE *f);

/* prv_reasons.c: events that tell more of a state ---------------------------------------------- */

/* Is there anything to write beside the state? Mostly not. */
static inline bool reason_has_more(const struct model_reason *r)
{
	return r->from_java | r->pinned | (r->name != 0);
}
int reason_events(struct paraver *p, struct prv_row *row, const struct model_reason *r,
		  uint64_t begin, uint64_t end);
/* What it runs, when that has changed. */
int run_event(struct paraver *p, struct prv_row *row, enum model_reason_kind kind, uint64_t begin);
/* State value of a wait. */
static inline uint32_t wait_value(struct paraver *p, const struct model_reason *r)
{
	p->used_reasons[r->kind] = true;
	return PARAVER_WAIT + (uint32_t)(r->kind - MODEL_WAIT_UNKNOWN);
}
/* Who has the CPU that a ready thread waits for; what the hypervisor took. */
int prv_wait(void *ctx, const struct model_wait *w);
int prv_steal(void *ctx, const struct model_steal *s);
/* Number of a system call in Paraver; noted for the labels. */
int64_t call_value(struct paraver *p, int32_t nr);
/* The labels of all that. */
void reasons_states(const struct paraver *p, FILE *f, bool colours);
void reasons_types(const struct paraver *p, FILE *f);

/* prv_links.c: hand-overs and messages -------------------------------------------------------- */

int prv_link(void *ctx, const struct model_link *link);
void links_types(const struct paraver *p, FILE *f);

/* prv.c: the callbacks of the sink ------------------------------------------------------------ */

int prv_state(void *ctx, const struct model_state *s);
int prv_cpu(void *ctx, const struct model_cpu *c);
int prv_wakeup(void *ctx, const struct model_wakeup *w);
int prv_event(void *ctx, const struct model_event *e);
int prv_vstate(void *ctx, const struct model_vstate *s);
int prv_task(void *ctx, const struct model_task *t);
int prv_remote(void *ctx, const struct model_remote_call *call);
/* A communication of no bandwidth; times from the window's begin. @cpu: of the sender. */
int comm_line(struct paraver *p, uint32_t cpu, const struct prv_row *from, uint64_t begin,
	      const struct prv_row *to, uint64_t end, uint64_t size, uint32_t tag);
int event_line(struct paraver *p, const struct prv_row *row, uint32_t cpu, uint64_t time,
	       uint32_t type, int64_t value);

/* prv_doings.c: what JVMs do besides ---------------------------------------------------------- */

/* Events of @e, if it is of those. Returns 1 if so, 0 if not, or -errno. */
int doing_events(struct paraver *p, const struct prv_row *row, uint32_t cpu, uint64_t time,
		 const struct model_event *e);
/* Types whose values are names, to be followed by these; whether there are any. */
bool doings_named(const struct paraver *p);
void doings_named_types(const struct paraver *p, FILE *f);
void doings_types(const struct paraver *p, FILE *f);

/* prv_calls.c: calls of methods ---------------------------------------------------------------- */

int prv_call_begin(void *ctx, const struct model_call *call);
int prv_call_end(void *ctx, const struct model_call *call);
void calls_types(const struct paraver *p, FILE *f);

/* prv_out.c ---------------------------------------------------------------------------------- */

int out_open(const char *path, bool gzip, uint64_t sort_memory, struct prv_out **out);
/* Writes the rest. Returns 0 or the first error. */
int out_finish(struct prv_out *o);
void out_close(struct prv_out *o);
/* Room for a line when the buffer is full or lines are sorted. */
char *out_line_slow(struct prv_out *o, uint64_t key);
void out_commit_sorted(struct prv_out *o, char *end);
/* Unsorted text of any length. */
int out_text(struct prv_out *o, const char *text, size_t len);
int out_error(const struct prv_out *o);
uint64_t out_lines(const struct prv_out *o);
uint64_t out_bytes(const struct prv_out *o);

/* prv_sort.c --------------------------------------------------------------------------------- */

struct sorter;

int sorter_new(const char *path, uint64_t memory, struct sorter **out);
void sorter_free(struct sorter *s);
char *sorter_line(struct sorter *s, uint64_t key);
void sorter_commit(struct sorter *s, char *end);
int sorter_error(const struct sorter *s);
/* Calls @put for each line in order. Returns 0 or -errno. */
int sorter_finish(struct sorter *s, int (*put)(void *ctx, const char *text, uint32_t len),
		  void *ctx);

/* Room for a line whose begin is @key; what is written there ends with out_commit(). NULL: error.
 */
static inline char *out_line(struct prv_out *o, uint64_t key)
{
	if (o->used + LINE_ROOM > OUT_BUFFER || o->sorter || o->error)
		return out_line_slow(o, key);
	return o->buffer + o->used;
}

static inline void out_commit(struct prv_out *o, char *end)
{
	o->lines++;
	if (o->sorter)
		out_commit_sorted(o, end);
	else
		o->used = (size_t)(end - o->buffer);
}

/* Numbers ------------------------------------------------------------------------------------ */

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "digits are made eight at a time, lowest byte first"
#endif

/*
 * The eight decimal digits of @v < 10^8 as bytes 0..9, the first one lowest: halves of four, then
 * pairs of two, then single digits, all in one word. 10486 / 2^20 and 103 / 2^10 divide by 100
 * and 10.
 */
static inline uint64_t eight_digits(uint32_t v)
{
	uint64_t fours = v / 10000 | (uint64_t)(v % 10000) << 32;
	uint64_t hundreds = (fours * 10486 >> 20) & 0x7f0000007full;
	uint64_t pairs = hundreds | (fours - hundreds * 100) << 16;
	uint64_t tens = (pairs * 103 >> 10) & 0x000f000f000f000full;

	return tens | (pairs - tens * 10) << 8;
}

/* Writes @v < 10^8 in decimal without leading zeros; 8 bytes may be written. Returns the end. */
static inline char *put_head(char *out, uint32_t v)
{
	uint64_t digits = eight_digits(v);
	/* The last digit is always shown. */
	uint32_t skip = (uint32_t)__builtin_ctzll(digits | 1ull << 56) / 8;

	digits = (digits | 0x3030303030303030ull) >> skip * 8;
	memcpy(out, &digits, sizeof(digits));
	return out + 8 - skip;
}

/* As put_u64(), for 17 digits and more. */
char *put_large(char *out, uint64_t v);

/* Writes @v in decimal at @out, where NUMBER_ROOM bytes may be written. Returns the end. */
static inline __attribute__((always_inline)) char *put_u64(char *out, uint64_t v)
{
	uint64_t digits;

	if (v < 100000000)
		return put_head(out, (uint32_t)v);
	if (v >= NUMBER_MAX)
		return put_large(out, v);
	out = put_head(out, (uint32_t)(v / 100000000));
	digits = eight_digits((uint32_t)(v % 100000000)) | 0x3030303030303030ull;
	memcpy(out, &digits, sizeof(digits));
	return out + 8;
}

static inline struct prv_number number_of(uint64_t v)
{
	uint32_t first = (uint32_t)(v < 100000000 ? v : v / 100000000);
	uint64_t digits = eight_digits(first);
	uint32_t skip = (uint32_t)__builtin_ctzll(digits | 1ull << 56) / 8;
	struct prv_number n = {.head = (digits | 0x3030303030303030ull) >> skip * 8,
			       .head_len = 8 - skip,
			       .len = 8 - skip};

	if (v >= 100000000) {
		n.low = eight_digits((uint32_t)(v % 100000000)) | 0x3030303030303030ull;
		n.len += 8;
	}
	return n;
}

static inline char *put_number(char *out, const struct prv_number *n)
{
	memcpy(out, &n->head, sizeof(n->head));
	memcpy(out + n->head_len, &n->low, sizeof(n->low));
	return out + n->len;
}

/* A number that is mostly below 10, and nearly always below 100. */
static inline char *put_small(char *out, uint32_t v)
{
	if (v >= 100)
		return put_u64(out, v);
	if (v >= 10) {
		*out++ = (char)('0' + v / 10);
		v %= 10;
	}
	*out = (char)('0' + v);
	return out + 1;
}

static inline char *put_prefix(char *at, const struct prv_row *row)
{
	memcpy(at, row->prefix, PREFIX_ROOM);
	return at + row->prefix_len;
}

static inline char *put_s64(char *out, int64_t v)
{
	if (v < 0) {
		*out++ = '-';
		return put_u64(out, -(uint64_t)v);
	}
	return put_u64(out, (uint64_t)v);
}

#endif /* JIS_PARAVER_PRV_INT_H */
