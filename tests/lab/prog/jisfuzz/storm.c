// SPDX-License-Identifier: MIT
/*
 * Anything at all, on sessions that all threads use at the same time: right arguments, wrong ones,
 * rubbish; calls that there are none of; descriptors that become other sessions in between.
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "fuzz.h"

static int any_session(struct ctx *c)
{
	return world.shared[below(&c->r, NR_SHARED)];
}

/* Another session takes the place of one that others are using. */
static void reopen(struct ctx *c)
{
	int fresh = device();

	if (fresh < 0)
		return;
	dup3(fresh, any_session(c), O_CLOEXEC);
	close(fresh);
}

static void other_calls(struct ctx *c, int fd)
{
	struct pollfd p = {.fd = fd, .events = (short)rnd(&c->r)};
	char buffer[16];

	poll(&p, 1, (int)below(&c->r, 2));
	if (one_in(&c->r, 2))
		(void)!read(fd, buffer, sizeof(buffer));
	else
		(void)!write(fd, buffer, sizeof(buffer));
	lseek(fd, (off_t)odd(&c->r), SEEK_SET);
	/* no such call; or one of the numbers with another size or direction */
	ioctl(fd,
	      one_in(&c->r, 2) ? odd(&c->r)
			       : ops[below(&c->r, NR_OPS)].request ^ 1ul << below(&c->r, 32),
	      c->args.bytes);
}

static void any_call(struct ctx *c)
{
	enum op op = (enum op)below(&c->r, NR_OPS);
	int fd = any_session(c), result;
	void *arg;

	/* Ends that come too soon, and the costly ones, less often. */
	if ((op == OP_STOP && !one_in(&c->r, 8)) ||
	    ((op == OP_PAUSE || op == OP_RESUME || op == OP_DUMP) && !one_in(&c->r, 4)))
		op = OP_STATUS;
	args_make(c, op);
	if (one_in(&c->r, 2))
		args_mutate(c, op);
	arg = args_place(c, op);
	result = call(fd, op, arg);
	if (op != OP_POOL_CREATE || result < 0)
		return;
	/* Where others write too nobody knows the number: then it stays. */
	if (arg != (void *)world.scribbled)
		close(((struct jis_pool_create *)arg)->fd);
}

void round_storm(struct ctx *c)
{
	uint64_t n = 20 + below(&c->r, 100);

	while (n--) {
		uint64_t what = below(&c->r, 128);

		if (what == 0)
			reopen(c);
		else if (what < 6)
			other_calls(c, any_session(c));
		else
			any_call(c);
	}
}
