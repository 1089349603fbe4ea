/* SPDX-License-Identifier: MIT */
/* What the builder's files share. */
#ifndef JIS_CALLTREE_TREE_INT_H
#define JIS_CALLTREE_TREE_INT_H

#include <stdio.h>

#include "jis/jta.h"
#include "map64.h"
#include "tree.h"

/*
 * Records so far; number 0 is the header. The last ones are in memory; those before them are
 * written, and mapped, as children learn late what they are in.
 */
struct tree_file {
	int fd;
	uint64_t nr;
	unsigned char *window; /* room records */
	uint64_t room;
	uint64_t base;	       /* number of the window's first record: those below are written */
	unsigned char *mapped; /* those */
};

/* Siblings, by number. */
struct chain {
	uint64_t first, last, nr;
};

/* A call under way. */
struct node {
	uint64_t number; /* of the call, or of the end of a remote one */
	uint16_t kind;
	uint64_t begin;
	uint64_t in; /* record of the served call it was made in, which is over; 0: none */
	struct chain children;
};

struct tree_thread {
	uint32_t process, thread, vthread;
	uint64_t java_tid;
	bool is_virtual;
	struct node *nodes; /* outermost first */
	uint32_t nr, room;
	uint32_t starter; /* thread in which the call that started this one was found last */
};

/* Calls of a method in a JVM, of one kind. */
struct tree_stat {
	uint32_t process, method;
	uint16_t kind;
	uint64_t calls, parts, total, min, max;
	unsigned __int128 squares; /* sum of them */
};

struct calltree {
	const struct model *model;
	const struct model_info *info;
	char *prefix, *path;
	bool finished;
	struct model_sink sink;
	struct tree_file file;
	struct tree_thread *threads; /* number in the tree: index + 1 */
	uint32_t nr_threads, room_threads;
	struct map64 by_key; /* threads */
	struct chain *jvms;  /* [info->nr_processes] */
	struct chain root;
	struct map64 starters; /* records of calls that are over, in which threads were started */
	struct map64 ends; /* records of ends of remote calls, by number, until they are linked */
	struct tree_stat *stats;
	uint32_t nr_stats, room_stats;
	struct map64 by_method;
	struct calltree_counts counts;
	bool wants_profiles;
	struct profiles *profiles; /* NULL: none */
};

/* The thread's number in the tree. */
static inline uint32_t tree_thread_number(const struct calltree *t, const struct tree_thread *th)
{
	return (uint32_t)(th - t->threads) + 1;
}

/* tree_file.c */

/* Records of a file that are in memory: how many. Tests take fewer. */
extern uint64_t tree_file_window;
/* Starts file @path; who reads one of that name keeps it. Returns 0 or -errno. */
int tree_file_open(struct tree_file *f, const char *path);
/* One more record: its number, 0: it cannot be had (errno). It moves others: addresses of records
 * are good until then. */
uint64_t tree_file_add(struct tree_file *f);
static inline struct jta_record *tree_record(const struct tree_file *f, uint64_t number)
{
	unsigned char *at = number >= f->base ? f->window + (number - f->base) * JTA_RECORD_BYTES
					      : f->mapped + number * JTA_RECORD_BYTES;

	return (struct jta_record *)(void *)at;
}
/* All is there: the header makes it valid. */
int tree_file_finish(struct tree_file *f, const struct jta_header *header);
void tree_file_close(struct tree_file *f);

/* Record @number comes last. */
void chain_add(const struct tree_file *f, struct chain *c, uint64_t number);

/* tree_names.c: PREFIX.mth and PREFIX.stt */
int tree_stat_add(struct calltree *t, uint32_t process, const struct jta_record *r);
int tree_names_write(const struct calltree *t);
int tree_stats_write(const struct calltree *t);

/* A tabulator and a field: tabulators, line ends and backslashes in it are \t, \n and \\. */
void tree_put_field(FILE *f, const char *text);
/* Closes @f: 0, or the first error there was. */
int tree_file_ended(FILE *f);

/* profiles.c: nothing happens where no profiles are wanted */
int profiles_begin(struct calltree *t);
int profiles_enter(struct calltree *t, const struct tree_thread *th, const struct model_call *call);
int profiles_exit(struct calltree *t, const struct tree_thread *th, const struct model_call *call);
/* Records of its ends; 0: there is none. */
int profiles_remote(struct calltree *t, const struct model_remote_call *call, uint64_t client,
		    uint64_t server);
int profiles_end(struct calltree *t);

/* What a method's number in a tree says. */
static inline uint32_t remote_method(uint32_t name)
{
	return name ? JTA_REMOTE_METHOD | name : 0;
}

#endif /* JIS_CALLTREE_TREE_INT_H */
