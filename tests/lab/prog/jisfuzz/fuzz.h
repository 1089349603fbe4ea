/* SPDX-License-Identifier: MIT */
/*
 * jisfuzz: what its files share. A run is a number of threads that do rounds until time is up. All
 * that a round does follows from its seed, never from what a call returned or from the time; what a
 * call does depends on the other threads as well, unless there is one thread (-j 1).
 */
#ifndef JISFUZZ_H
#define JISFUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "jis/abi.h"

#define PAGE 4096u
#define NR_SHARED 3   /* sessions that all threads use at once */
#define NR_CGROUPS 10 /* more than a session takes */
#define MAX_THREADS 16
#define NR_ERRNO 140

#define NR(x) (sizeof(x) / sizeof((x)[0]))

struct rng {
	uint64_t state;
};

uint64_t rnd(struct rng *r);
uint64_t below(struct rng *r, uint64_t n); /* 0..n-1 */
bool one_in(struct rng *r, uint64_t n);
uint64_t odd(struct rng *r); /* a number somebody may have forgotten */
uint64_t mix(uint64_t a, uint64_t b);

/* The calls of the device, in the order of their numbers. */
enum op {
	OP_SETUP,
	OP_TARGET_ADD,
	OP_TARGET_REMOVE,
	OP_START,
	OP_PAUSE,
	OP_RESUME,
	OP_STOP,
	OP_FLUSH,
	OP_GET_PACKET,
	OP_STATUS,
	OP_COUNTERS,
	OP_TARGET_TEST,
	OP_SYSCALLS,
	OP_FREEZE,
	OP_THAW,
	OP_DUMP,
	OP_POOL_CREATE,
	NR_OPS
};

struct op_info {
	const char *name;
	unsigned long request;
	size_t size; /* of its argument; 0: none */
};

extern const struct op_info ops[NR_OPS];

/* In memory that children share. */
struct stats {
	unsigned long good[NR_OPS], bad[NR_OPS], errors[NR_OPS][NR_ERRNO];
	unsigned long rounds[16], wrong;
	unsigned long injected; /* failures the kernel was told to have */
};

extern struct stats *stats;

struct args {
	union {
		uint32_t size;
		uint8_t bytes[2 * PAGE];
		struct jis_setup setup;
		struct jis_target target;
		struct jis_syscalls syscalls;
		struct jis_pool_create pool;
		struct jis_get_packet packet;
		struct jis_counters counters;
		struct jis_status status;
	};
};

/* What a round works with. */
struct ctx {
	struct rng r;
	uint64_t seed; /* the round's */
	const char *kind;
	unsigned int thread;
	uint8_t *pages; /* three pages, the last of which cannot be used */
	struct args args;
};

/* Made once. */
struct world {
	unsigned int nr_cpus, features;
	int shared[NR_SHARED];
	int cgroups[NR_CGROUPS]; /* -1: there is none */
	pid_t mill;		 /* a process that forks, renames, moves and sleeps */
	bool member;		 /* the module has a group, 4321 */
	bool inject;		 /* this kernel lets its allocations fail */
	bool hotplug;
	volatile uint32_t *scribbled; /* words that change all the time */
};

extern struct world world;

/* A promise of the module was broken: told with the round's seed, and the run fails. */
void wrong(struct ctx *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ioctl(), counted; its result or -errno. */
int call(int fd, enum op op, void *arg);
int call_with(struct ctx *c, int fd, enum op op); /* with c->args */

int device(void);

/* args.c: arguments that are right; with one field that is not; and places to have them at. */
void args_make(struct ctx *c, enum op op);
void args_mutate(struct ctx *c, enum op op);
void *args_place(struct ctx *c, enum op op);
void args_target(struct args *a, uint32_t kind, uint32_t pid);

/* Kinds of rounds. */
void round_storm(struct ctx *c);   /* storm.c: anything, on sessions that all threads share */
void round_chain(struct ctx *c);   /* chain.c: one session's life, checked step by step */
void round_memory(struct ctx *c);  /* memory.c: mappings of rings */
void round_pool(struct ctx *c);	   /* memory.c: pools and what is in them */
void round_share(struct ctx *c);   /* share.c: descriptors copied, closed, inherited, passed on */
void round_rights(struct ctx *c);  /* share.c: members of the module's group */
void round_inject(struct ctx *c);  /* inject.c: memory that cannot be had */
void round_hotplug(struct ctx *c); /* world.c: CPUs that go and come */
void round_crowd(struct ctx *c);   /* world.c: more targets than there is room for */

void world_make(void);
void world_end(void);
bool inject_init(void); /* inject.c */

#endif /* JISFUZZ_H */
