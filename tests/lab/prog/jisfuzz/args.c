// SPDX-License-Identifier: MIT
/*
 * Arguments: right ones, ones with a single field wrong, and where they lie in memory.
 */
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"

static uint64_t raw_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void make_setup(struct ctx *c, struct jis_setup *s)
{
	static const uint64_t bytes[] = {0, 0, 256 << 10, 512 << 10, 1 << 20, 4 << 20};
	static const uint32_t packets[] = {0, PAGE, PAGE, 2 * PAGE, 16 * PAGE};

	s->abi_version = JIS_ABI_VERSION;
	s->flags = (uint32_t)below(&c->r, 4);
	s->clock = one_in(&c->r, 3) ? JIS_CLOCK_TSC : JIS_CLOCK_RAW;
	if (s->clock == JIS_CLOCK_RAW && one_in(&c->r, 2))
		s->base = raw_now() & ~(uint64_t)JIS_TIME_MASK;
	s->buffer_bytes = bytes[below(&c->r, NR(bytes))];
	s->packet_size = packets[below(&c->r, NR(packets))];
	s->watermark = one_in(&c->r, 4) ? (uint32_t)odd(&c->r) : (uint32_t)below(&c->r, 4);
	s->families = one_in(&c->r, 2) ? 0 : (uint32_t)rnd(&c->r) & world.features & JIS_FAMILIES;
	for (size_t i = 0; i < sizeof(s->uuid); i++)
		s->uuid[i] = (uint8_t)rnd(&c->r);
}

void args_target(struct args *a, uint32_t kind, uint32_t pid)
{
	memset(a, 0, sizeof(*a));
	a->target = (struct jis_target){.size = sizeof(a->target), .kind = kind, .pid = pid};
}

static void make_target(struct ctx *c, enum op op, struct jis_target *t)
{
	static const char *const names[] = {"true", "jisfuzz", "sh", "a", "b", "c",
					    "d",    "e",       "f",  "g", "h"};
	const pid_t pids[] = {getpid(), gettid(), world.mill, world.mill, getppid(), 1, 2};

	t->kind = (uint32_t)below(&c->r, 5);
	switch (t->kind) {
	case JIS_TARGET_PROCESS:
	case JIS_TARGET_THREAD:
		t->pid = (uint32_t)pids[below(&c->r, NR(pids))];
		break;
	case JIS_TARGET_CGROUP:
		t->fd = world.cgroups[below(&c->r, NR_CGROUPS)];
		break;
	case JIS_TARGET_EXECUTABLE:
		strcpy(t->name, names[below(&c->r, NR(names))]);
		break;
	}
	if (op == OP_TARGET_ADD && t->kind == JIS_TARGET_PROCESS)
		t->flags = (uint32_t)below(&c->r, 4) | (one_in(&c->r, 4) ? 6 : 0);
	if (op == OP_TARGET_ADD && t->kind == JIS_TARGET_EXECUTABLE)
		t->flags = (uint32_t)below(&c->r, 4);
}

/* Any call in any shape: the threads that fuzz may be targets. */
static void make_syscalls(struct ctx *c, struct jis_syscalls *s)
{
	for (uint64_t n = below(&c->r, 400); n; n--) {
		struct jis_syscall_desc *d = &s->native[below(&c->r, JIS_MAX_SYSCALL)];

		d->shape = (uint8_t)(1 + below(&c->r, JIS_NR_SHAPES - 1)) | (rnd(&c->r) & 0x80);
		d->a = (uint8_t)below(&c->r, 6);
		d->b = (uint8_t)below(&c->r, 5);
		d->c = one_in(&c->r, 2) ? JIS_ARG_NONE : (uint8_t)below(&c->r, 6);
		s->compat[below(&c->r, JIS_MAX_SYSCALL)] = *d;
	}
}

static void make_pool(struct ctx *c, struct jis_pool_create *p)
{
	uint32_t words = one_in(&c->r, 3) ? 0 : 1u << below(&c->r, 10);

	p->pid = (uint32_t)(one_in(&c->r, 8) ? world.mill : getpid());
	p->nr_words = words;
	if (words)
		p->words_offset =
			(sizeof(struct jis_pool_header) + below(&c->r, 3 * PAGE)) / 64 * 64 + 64;
	p->bytes = (p->words_offset + words * sizeof(struct jis_thread_words)) / PAGE * PAGE +
		   PAGE * (1 + below(&c->r, 16));
}

/* Fills c->args for @op, as its caller should. */
void args_make(struct ctx *c, enum op op)
{
	struct args *a = &c->args;

	memset(a, 0, sizeof(*a));
	a->size = (uint32_t)ops[op].size;
	switch (op) {
	case OP_SETUP:
		make_setup(c, &a->setup);
		break;
	case OP_TARGET_ADD:
	case OP_TARGET_REMOVE:
	case OP_TARGET_TEST:
		make_target(c, op, &a->target);
		break;
	case OP_SYSCALLS:
		make_syscalls(c, &a->syscalls);
		break;
	case OP_POOL_CREATE:
		make_pool(c, &a->pool);
		break;
	case OP_GET_PACKET:
		a->packet.cpu = (uint32_t)below(&c->r, world.nr_cpus);
		break;
	case OP_COUNTERS:
		a->counters.cpu = (uint32_t)below(&c->r, world.nr_cpus);
		break;
	default:
		break;
	}
}

/* Which words of an argument mean something to the module. */
static size_t words_in(enum op op)
{
	switch (op) {
	case OP_COUNTERS:
		return 2;
	default:
		return ops[op].size / 4;
	}
}

/* One field that is not what it should be: another number, a bit, one more or less, or all rubbish.
 */
void args_mutate(struct ctx *c, enum op op)
{
	size_t words = words_in(op), at;
	uint32_t word;
	uint64_t wide;

	if (!words)
		return;
	/* Most of a table of calls is alike: its begin is enough. */
	at = 4 * below(&c->r, op == OP_SYSCALLS ? 8 : words);
	memcpy(&word, c->args.bytes + at, 4);
	switch (below(&c->r, 8)) {
	case 0:
		word ^= 1u << below(&c->r, 32);
		break;
	case 1:
		word++;
		break;
	case 2:
		word--;
		break;
	case 3:
		wide = odd(&c->r);
		memcpy(c->args.bytes + at / 8 * 8, &wide, 8);
		return;
	case 4:
		for (size_t i = 4; i < ops[op].size; i++)
			c->args.bytes[i] = (uint8_t)rnd(&c->r);
		return;
	case 5:
		word = *world.scribbled;
		break;
	default:
		word = (uint32_t)odd(&c->r);
	}
	memcpy(c->args.bytes + at, &word, 4);
}

/*
 * Where the kernel finds the argument: mostly in place; else cut off by a page that is not there,
 * in memory that cannot be written, in words that another thread changes, or nowhere.
 */
void *args_place(struct ctx *c, enum op op)
{
	size_t size = ops[op].size;

	switch (size && size <= PAGE ? below(&c->r, 24) : 24 + below(&c->r, 8)) {
	case 0: /* all of it, or all but the last word, before the end of what there is */
		size -= one_in(&c->r, 2) ? 4 : 0;
		return memcpy(c->pages + 2 * PAGE - size, c->args.bytes, size);
	case 1:
		mprotect(c->pages, PAGE, PROT_READ | PROT_WRITE);
		memcpy(c->pages, c->args.bytes, size);
		mprotect(c->pages, PAGE, PROT_READ);
		return c->pages;
	case 2:
		return (void *)world.scribbled;
	case 3:
	case 24:
		return one_in(&c->r, 2) ? NULL : (void *)odd(&c->r);
	}
	return c->args.bytes;
}
