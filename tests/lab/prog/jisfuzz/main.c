// SPDX-License-Identifier: MIT
/*
 * jisfuzz: calls /dev/jis with nonsense and with things that nearly make sense, from threads that
 * share sessions and from children. The kernel says by itself what it did not stand (the test
 * driver looks at its log); what the module promised and did not keep is told here.
 *
 *   jisfuzz [-b] [-j THREADS] [-k KIND,...] [-m MIN] [-n ROUNDS] [-R ROUND] [-s SEED] [-t SECONDS]
 *
 * -b: others use the module, and its memory, at the same time. -k: only these kinds of rounds. -m:
 * each call must have succeeded and failed so often; goes on, up to five times as long, until it
 * has. -n: so many rounds a thread. -R: only the round of this seed.
 *
 * Status 0; 1 when a promise was broken, or with -m a count not reached.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"

#define OP(name, type) [OP_##name] = {#name, JIS_IOC_##name, sizeof(type)}
#define OP0(name) [OP_##name] = {#name, JIS_IOC_##name, 0}

const struct op_info ops[NR_OPS] = {
	OP(SETUP, struct jis_setup),
	OP(TARGET_ADD, struct jis_target),
	OP(TARGET_REMOVE, struct jis_target),
	OP0(START),
	OP0(PAUSE),
	OP0(RESUME),
	OP0(STOP),
	OP0(FLUSH),
	OP(GET_PACKET, struct jis_get_packet),
	OP(STATUS, struct jis_status),
	OP(COUNTERS, struct jis_counters),
	OP(TARGET_TEST, struct jis_target),
	OP(SYSCALLS, struct jis_syscalls),
	OP0(FREEZE),
	OP0(THAW),
	OP0(DUMP),
	OP(POOL_CREATE, struct jis_pool_create),
};

static const struct kind {
	const char *name;
	void (*run)(struct ctx *c);
	unsigned int weight; /* how often, beside the others */
	bool alone;	     /* by the first thread only */
} kinds[] = {
	{"storm", round_storm, 8, false},   {"chain", round_chain, 16, false},
	{"memory", round_memory, 4, false}, {"pool", round_pool, 4, false},
	{"share", round_share, 4, false},   {"rights", round_rights, 3, false},
	{"inject", round_inject, 8, false}, {"hotplug", round_hotplug, 2, true},
	{"crowd", round_crowd, 0, true},
};

struct stats *stats;
struct world world;

static struct {
	uint64_t seed, rounds, replay, min;
	unsigned int threads, seconds, kinds;
	bool beside; /* others, who have memory of the module too */
	struct timespec begin;
} run = {.seed = 42, .threads = 4, .seconds = 10, .kinds = ~0u};

static bool over;

/* xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift generators". */
uint64_t rnd(struct rng *r)
{
	r->state ^= r->state >> 12;
	r->state ^= r->state << 25;
	r->state ^= r->state >> 27;
	return (r->state * 0x2545f4914f6cdd1dull) >> 16;
}

uint64_t below(struct rng *r, uint64_t n)
{
	return rnd(r) % n;
}

bool one_in(struct rng *r, uint64_t n)
{
	return below(r, n) == 0;
}

uint64_t odd(struct rng *r)
{
	static const uint64_t numbers[] = {0,
					   1,
					   2,
					   3,
					   4,
					   8,
					   63,
					   64,
					   96,
					   4095,
					   4096,
					   4097,
					   65536,
					   1ull << 20,
					   1ull << 27,
					   1ull << 31,
					   1ull << 32,
					   1ull << 40,
					   1ull << 63,
					   ~0ull,
					   ~0ull - 1,
					   0x7fffffff,
					   0xffffffff,
					   ~0ull << 12,
					   0x7fffffffffffffff,
					   0xffff888000001000};

	if (one_in(r, 4))
		return rnd(r) | rnd(r) << 48;
	return numbers[below(r, NR(numbers))];
}

uint64_t mix(uint64_t a, uint64_t b)
{
	a = (a ^ b) * 0x9e3779b97f4a7c15ull;
	a = (a ^ a >> 32) * 0xd6e8feb86659fd93ull;
	return (a ^ a >> 32) | 1;
}

void wrong(struct ctx *c, const char *format, ...)
{
	char text[512];
	va_list args;
	int n;

	n = snprintf(text, sizeof(text), "wrong: round %s 0x%llx: ", c->kind,
		     (unsigned long long)c->seed);
	va_start(args, format);
	n += vsnprintf(text + n, sizeof(text) - (size_t)n - 1, format, args);
	va_end(args);
	if (n > (int)sizeof(text) - 2)
		n = sizeof(text) - 2;
	text[n++] = '\n';
	if (__atomic_fetch_add(&stats->wrong, 1, __ATOMIC_RELAXED) < 50)
		(void)!write(STDOUT_FILENO, text, (size_t)n);
}

int call(int fd, enum op op, void *arg)
{
	int result = ioctl(fd, ops[op].request, arg), err = errno;

	if (result >= 0) {
		__atomic_fetch_add(&stats->good[op], 1, __ATOMIC_RELAXED);
		return result;
	}
	__atomic_fetch_add(&stats->bad[op], 1, __ATOMIC_RELAXED);
	if (err < NR_ERRNO)
		__atomic_fetch_add(&stats->errors[op][err], 1, __ATOMIC_RELAXED);
	return -err;
}

int call_with(struct ctx *c, int fd, enum op op)
{
	return call(fd, op, c->args.bytes);
}

int device(void)
{
	return open(JIS_DEVICE, O_RDWR | O_CLOEXEC);
}

static void do_round(struct ctx *c, uint64_t seed)
{
	unsigned int total = 0, at;
	const struct kind *k;

	c->seed = seed;
	c->r.state = mix(seed, 1);
	for (k = kinds; k < kinds + NR(kinds); k++)
		if (run.kinds >> (k - kinds) & 1)
			total += k->weight;
	at = (unsigned int)below(&c->r, total);
	for (k = kinds;; k++) {
		if (!(run.kinds >> (k - kinds) & 1))
			continue;
		if (at < k->weight)
			break;
		at -= k->weight;
	}
	if (k->alone && c->thread)
		return;
	c->kind = k->name;
	__atomic_fetch_add(&stats->rounds[k - kinds], 1, __ATOMIC_RELAXED);
	k->run(c);
}

/* A kind that takes long, before the others. */
static void do_once(struct ctx *c, size_t kind)
{
	if (!(run.kinds >> kind & 1))
		return;
	c->seed = run.seed;
	c->r.state = mix(run.seed, 1);
	c->kind = kinds[kind].name;
	stats->rounds[kind]++;
	kinds[kind].run(c);
}

static void *fuzz(void *arg)
{
	struct ctx *c = arg;
	uint64_t n;

	c->pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (c->pages == MAP_FAILED)
		exit(2);
	mprotect(c->pages + 2 * PAGE, PAGE, PROT_NONE);
	for (n = 0; !__atomic_load_n(&over, __ATOMIC_RELAXED); n++) {
		if (run.rounds && n == run.rounds)
			break;
		do_round(c, run.replay ? run.replay : mix(mix(run.seed, c->thread + 1), n));
	}
	return NULL;
}

static double elapsed(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - run.begin.tv_sec) +
	       (double)(now.tv_nsec - run.begin.tv_nsec) / 1e9;
}

/* The first call that has not succeeded and failed as often as -m says, or NR_OPS. */
static int lacking(void)
{
	int op = 0;

	while (op < NR_OPS && stats->good[op] >= run.min && stats->bad[op] >= run.min)
		op++;
	return op;
}

static bool time_is_up(void)
{
	double t = elapsed();

	if (t < run.seconds)
		return false;
	return lacking() == NR_OPS || t >= 5.0 * run.seconds;
}

static void on_signal(int signal)
{
}

/* Now and then a signal to one of the threads: what waits for a lock gives up. */
static void conduct(pthread_t *threads)
{
	const struct timespec pause = {0, 20000000};
	struct rng r = {mix(run.seed, 77)};

	if (run.rounds)
		return;
	while (!time_is_up()) {
		nanosleep(&pause, NULL);
		pthread_kill(threads[below(&r, run.threads)], SIGUSR1);
	}
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
}

static void report(void)
{
	for (size_t i = 0; i < NR(kinds); i++)
		printf("%s%s %lu", i ? ", " : "rounds: ", kinds[i].name, stats->rounds[i]);
	printf(", %lu failures injected, %.0f s\n", stats->injected, elapsed());
	for (int op = 0; op < NR_OPS; op++) {
		printf("%-14s %8lu good %8lu failed:", ops[op].name, stats->good[op],
		       stats->bad[op]);
		for (int e = 1; e < NR_ERRNO; e++)
			if (stats->errors[op][e])
				printf(" %s %lu", strerrorname_np(e), stats->errors[op][e]);
		printf("\n");
	}
}

/* After all sessions are closed nothing of the memory they may hold together is still charged. */
static void check_account(struct ctx *c)
{
	long pages = sysconf(_SC_PHYS_PAGES);
	int fd = device(), err;

	args_make(c, OP_SETUP);
	c->args.setup = (struct jis_setup){.size = sizeof(c->args.setup),
					   .abi_version = JIS_ABI_VERSION,
					   .clock = JIS_CLOCK_RAW,
					   .buffer_bytes = (uint64_t)pages * PAGE / 100 * 45};
	err = call_with(c, fd, OP_SETUP);
	if (err)
		wrong(c, "45 %% of the memory cannot be had: %s", strerror(-err));
	close(fd);
}

static unsigned int parse_kinds(char *list)
{
	unsigned int mask = 0;

	for (char *name = strtok(list, ","); name; name = strtok(NULL, ","))
		for (size_t i = 0; i < NR(kinds); i++)
			if (!strcmp(name, kinds[i].name))
				mask |= 1u << i;
	return mask;
}

static void parse(int argc, char **argv)
{
	int opt;

	while ((opt = getopt(argc, argv, "bj:k:m:n:R:s:t:")) != -1) {
		switch (opt) {
		case 'b':
			run.beside = true;
			break;
		case 'j':
			run.threads = (unsigned int)atoi(optarg);
			break;
		case 'k':
			run.kinds = parse_kinds(optarg);
			break;
		case 'm':
			run.min = strtoull(optarg, NULL, 0);
			break;
		case 'n':
			run.rounds = strtoull(optarg, NULL, 0);
			break;
		case 'R':
			run.replay = strtoull(optarg, NULL, 0);
			break;
		case 's':
			run.seed = strtoull(optarg, NULL, 0);
			break;
		case 't':
			run.seconds = (unsigned int)atoi(optarg);
			break;
		default:
			exit(2);
		}
	}
	if (!run.threads || run.threads > MAX_THREADS || !run.kinds)
		exit(2);
}

int main(int argc, char **argv)
{
	static struct ctx contexts[MAX_THREADS];
	const struct sigaction interrupt = {.sa_handler = on_signal};
	pthread_t threads[MAX_THREADS];
	struct ctx *first = &contexts[0];
	int lacks;

	parse(argc, argv);
	sigaction(SIGUSR1, &interrupt, NULL);
	signal(SIGPIPE, SIG_IGN);
	clock_gettime(CLOCK_MONOTONIC, &run.begin);
	stats = mmap(NULL, sizeof(*stats), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	world_make();
	printf("seed %llu, %u threads\n", (unsigned long long)run.seed, run.threads);
	fflush(stdout);
	if (run.seconds >= 60)
		do_once(first, NR(kinds) - 1);
	for (unsigned int i = 0; i < run.threads; i++) {
		contexts[i].thread = i;
		pthread_create(&threads[i], NULL, fuzz, &contexts[i]);
	}
	conduct(threads);
	for (unsigned int i = 0; i < run.threads; i++)
		pthread_join(threads[i], NULL);
	world_end();
	first->kind = "end";
	if (!run.beside)
		check_account(first);
	report();
	lacks = lacking();
	if (lacks < NR_OPS)
		printf("%s has not succeeded and failed %llu times\n", ops[lacks].name,
		       (unsigned long long)run.min);
	if (stats->wrong)
		printf("%lu promises broken\n", stats->wrong);
	return lacks < NR_OPS || stats->wrong;
}
