/* SPDX-License-Identifier: MIT */
/*
 * A stand-in for the recorder: serves one process a pool over the agent's socket, empties it, and
 * prints every record as a line of text when the process has ended. It shares headers with the real
 * recorder and nothing else, decodes by the table in events.h, and checks what it reads: header
 * fields, sequence numbers, times that never step back, produced = stored + lost for each type of
 * each slot. What is wrong is a line that begins with BAD, and exit status 99.
 *
 * Usage: poolhost [OPTIONS] SOCKET -- COMMAND ARG...
 *   -o FILE  write there instead of stdout     -p N  packets         -s N  bytes of a packet
 *   -n N  slots    -d N  packets of the dictionary    -r  CLOCK_MONOTONIC_RAW
 *   -x  do not empty the pool while the process runs  -f HEX  features   -R TEXT  refuse
 *   -t NS    stacks of waits longer than this
 *   -m RULES trace these methods; further ones change that one after the other, once the agent is
 * ready: the guard's where they begin with a digit, and an empty one has the agent stop Exit
 * status: the command's, or 99.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <jis/abi.h>
#include <jis/agent.h>

struct packet {
	struct packet *next;
	unsigned char bytes[];
};

struct host {
	__u32 packets, packet_size, slots, dict_packets, clock, features;
	__u64 stack_threshold;
	int keep;
	const char *refuse;
	const char *methods[16];
	unsigned int nr_methods, sent_methods;
	FILE *out;
	unsigned char *pool;
	size_t size;
	int memfd, listener, client;
	struct packet **tails, **heads; /* by slot */
	__u64 *next_seq;		/* by slot: of what is to be taken */
	__u64 (*stored)[JIS_MAX_EVENT_ID];
	int bad;
};

static struct host h = {
	.packets = 1200,
	.packet_size = 16384,
	.slots = 1100,
	.dict_packets = 64,
	.clock = JIS_CLOCK_TSC,
	.features = JIS_FEATURES_DEFAULT,
	.memfd = -1,
	.client = -1,
};

#define BAD(...) (h.bad = 1, fprintf(h.out, "BAD " __VA_ARGS__), fputc('\n', h.out))

static void die(const char *what)
{
	fprintf(stderr, "poolhost: %s: %s\n", what, strerror(errno));
	exit(99);
}

static struct jis_pool_header *header(void)
{
	return (struct jis_pool_header *)(void *)h.pool;
}

static struct jis_slot *slots(void)
{
	return (struct jis_slot *)(void *)(h.pool + header()->slots_offset);
}

static __u32 *states(void)
{
	return (__u32 *)(void *)(h.pool + header()->states_offset);
}

static __u64 ticks(void)
{
	struct timespec ts;

	if (h.clock == JIS_CLOCK_TSC)
		return __builtin_ia32_rdtsc();
	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return (__u64)ts.tv_sec * 1000000000u + (__u64)ts.tv_nsec;
}

static __u64 align(__u64 n)
{
	return (n + 4095) & ~4095ull;
}

static void pool_make(void)
{
	__u64 states_at = align(4096 + (__u64)h.slots * sizeof(struct jis_slot));
	__u64 packets_at = align(states_at + 4ull * h.packets);

	h.size = packets_at + (__u64)h.packets * h.packet_size;
	h.memfd = memfd_create("jis-pool", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (h.memfd < 0 || ftruncate(h.memfd, (off_t)h.size) < 0 ||
	    fcntl(h.memfd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		die("memfd");
	h.pool = mmap(NULL, h.size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, h.memfd, 0);
	if (h.pool == MAP_FAILED)
		die("mmap");
	*header() = (struct jis_pool_header){
		.magic = JIS_POOL_MAGIC,
		.abi_version = JIS_ABI_VERSION,
		.schema_version = JIS_SCHEMA_VERSION,
		.total_size = h.size,
		.clock = h.clock,
		.base = ticks() & ~(__u64)JIS_TIME_MASK,
		.uuid = "poolhost-uuid..",
		.nr_slots = h.slots,
		.slot_size = sizeof(struct jis_slot),
		.nr_packets = h.packets,
		.packet_size = h.packet_size,
		.slots_offset = 4096,
		.states_offset = states_at,
		.packets_offset = packets_at,
		.dict_packets = h.dict_packets,
		.event_mask = ~0ull,
	};
	h.heads = calloc(h.slots, sizeof(*h.heads));
	h.tails = calloc(h.slots, sizeof(*h.tails));
	h.stored = calloc(h.slots, sizeof(*h.stored));
	h.next_seq = calloc(h.slots, sizeof(*h.next_seq));
	if (!h.heads || !h.tails || !h.stored || !h.next_seq)
		die("memory");
}

/* Taking packets ----------------------------------------------------------------------------- */

static void packet_keep(__u32 slot, const unsigned char *bytes)
{
	struct packet *p;

	if (slot >= h.slots) {
		BAD("a packet of slot %u", slot);
		return;
	}
	p = malloc(sizeof(*p) + h.packet_size);
	if (!p)
		die("memory");
	p->next = NULL;
	memcpy(p->bytes, bytes, h.packet_size);
	if (h.tails[slot])
		h.tails[slot]->next = p;
	else
		h.heads[slot] = p;
	h.tails[slot] = p;
}

/*
 * Takes full packets, in the order of their sequence numbers, and at the end the open ones too.
 * Before that none whose forerunner has not been taken: it was still open when its state was looked
 * at.
 */
static void pool_empty(int end)
{
	__u64 at = header()->packets_offset, best_seq;
	struct jis_packet_header *ph;
	__u32 i, state, best;

	for (;;) {
		best = h.packets;
		best_seq = ~0ull;
		for (i = 0; i < h.packets; i++) {
			state = __atomic_load_n(&states()[i], __ATOMIC_ACQUIRE);
			ph = (void *)(h.pool + at + (__u64)i * h.packet_size);
			if ((JIS_PACKET_STATE(state) == JIS_PACKET_FULL ||
			     (end && JIS_PACKET_STATE(state) == JIS_PACKET_OPEN)) &&
			    (end || JIS_PACKET_SLOT(state) >= h.slots ||
			     ph->packet_seq == h.next_seq[JIS_PACKET_SLOT(state)]) &&
			    ph->packet_seq < best_seq) {
				best = i;
				best_seq = ph->packet_seq;
			}
		}
		if (best == h.packets)
			return;
		ph = (void *)(h.pool + at + (__u64)best * h.packet_size);
		if (JIS_PACKET_SLOT(states()[best]) < h.slots)
			h.next_seq[JIS_PACKET_SLOT(states()[best])] = best_seq + 1;
		packet_keep(JIS_PACKET_SLOT(states()[best]), (unsigned char *)ph);
		memset(ph, 0, h.packet_size);
		__atomic_store_n(&states()[best], JIS_PACKET_FREE, __ATOMIC_RELEASE);
	}
}

/* Printing ----------------------------------------------------------------------------------- */

struct cursor {
	const unsigned char *p, *end;
	int bad;
};

static const void *take(struct cursor *c, size_t n)
{
	static const unsigned char zero[8];
	const unsigned char *p = c->p;

	if ((size_t)(c->end - c->p) < n) {
		c->bad = 1;
		return zero;
	}
	c->p += n;
	return p;
}

static __u64 number(struct cursor *c, size_t n)
{
	__u64 v = 0;

	memcpy(&v, take(c, n), n);
	return v;
}

/* One for each type a field may have, whether an event uses it now or not. */
#define PRINTER static __attribute__((unused)) void
PRINTER print_u32(struct cursor *c)
{
	fprintf(h.out, "%u", (__u32)number(c, 4));
}
PRINTER print_s32(struct cursor *c)
{
	fprintf(h.out, "%d", (__s32)number(c, 4));
}
PRINTER print_x32(struct cursor *c)
{
	fprintf(h.out, "%#x", (__u32)number(c, 4));
}
PRINTER print_u64(struct cursor *c)
{
	fprintf(h.out, "%llu", number(c, 8));
}
PRINTER print_s64(struct cursor *c)
{
	fprintf(h.out, "%lld", (long long)number(c, 8));
}
PRINTER print_x64(struct cursor *c)
{
	fprintf(h.out, "%#llx", number(c, 8));
}

static void print_str(struct cursor *c)
{
	__u32 length = (__u32)number(c, 4), i;
	const unsigned char *text;

	if (length % 4 || !length || length > JIS_STRING_MAX || (size_t)(c->end - c->p) < length) {
		c->bad = 1;
		return;
	}
	text = take(c, length);
	if (text[length - 1] || !memchr(text, 0, length) || strlen((const char *)text) + 4 < length)
		c->bad = 1;
	fputc('"', h.out);
	for (i = 0; text[i]; i++) {
		if (text[i] == '"' || text[i] == '\\')
			fprintf(h.out, "\\%c", text[i]);
		else if (text[i] < ' ')
			fprintf(h.out, "\\x%02x", text[i]);
		else
			fputc(text[i], h.out);
	}
	fputc('"', h.out);
}

#define FIELD(type, name)                                                                          \
	fprintf(h.out, " " #name "=");                                                             \
	print_##type(c);
#define STRING(name) FIELD(str, name)
#define CASE(id, name)                                                                             \
	case id:                                                                                   \
		fprintf(h.out, " " #name);                                                         \
		JIS_FIELDS_##name(FIELD, STRING) break;

static void print_payload(__u32 class, __u32 id, struct cursor *c)
{
	if (class == JIS_STREAM_DICT) {
		switch (id) {
			JIS_EVENTS_DICT(CASE) JIS_EVENTS_COMMON(CASE) default : c->bad = 1;
		}
	} else {
		switch (id) {
			JIS_EVENTS_USER(CASE)
			JIS_EVENTS_USER_RARE(CASE) JIS_EVENTS_COMMON(CASE) default : c->bad = 1;
		}
	}
}

/* State of one stream while it is read. */
struct stream {
	__u64 time, sequence, discarded;
	__u32 slot, owner, started;
};

static void packet_check(struct stream *s, const struct jis_packet_header *ph)
{
	__u32 class = s->slot == JIS_POOL_DICT_SLOT ? JIS_STREAM_DICT : JIS_STREAM_USER;

	if (ph->magic != JIS_PACKET_MAGIC || memcmp(ph->uuid, header()->uuid, 16) ||
	    ph->stream_class != class || ph->stream_instance != s->slot ||
	    ph->packet_size != 8ull * h.packet_size || ph->crc32c || ph->flags)
		BAD("header of slot %u", s->slot);
	if (ph->packet_seq != s->sequence)
		BAD("slot %u: packet %llu where %llu was due", s->slot, ph->packet_seq,
		    s->sequence);
	if (ph->timestamp_begin < s->time)
		BAD("slot %u: packet begins before the last record", s->slot);
	if (ph->content_size && (ph->events_discarded < s->discarded ||
				 ph->content_size > ph->packet_size || ph->content_size % 32))
		BAD("slot %u: end of packet %llu", s->slot, ph->packet_seq);
	s->sequence = ph->packet_seq + 1;
	s->time = ph->timestamp_begin;
	s->owner = ph->owner;
	if (ph->content_size)
		s->discarded = ph->events_discarded;
}

/* Reads the record at c; 0 at the end of the packet. */
static int record_print(struct stream *s, const struct jis_packet_header *ph, struct cursor *c)
{
	__u32 word = c->end - c->p >= 4 ? (__u32)number(c, 4) : 0, id = word & 31;
	__u64 time;

	if (!word)
		return 0;
	if (id == JIS_ID_EXTENDED) {
		id = (__u32)number(c, 4);
		time = number(c, 8);
	} else {
		time = s->time + (((word >> 5) - (__u32)s->time) & JIS_TIME_MASK);
	}
	if (id >= JIS_MAX_EVENT_ID || !id || time < s->time) {
		BAD("slot %u: record %u at %llu after %llu", s->slot, id, time, s->time);
		return 0;
	}
	s->time = time;
	h.stored[s->slot][id]++;
	if (ph->stream_class == JIS_STREAM_USER && id == JIS_EV_thread_bind && !c->bad)
		memcpy(&s->owner, c->p, 4);
	fprintf(h.out, "slot=%u tid=%u time=%llu", s->slot, s->owner, time);
	print_payload(ph->stream_class, id, c);
	fputc('\n', h.out);
	if (c->bad)
		BAD("slot %u: payload of record %u", s->slot, id);
	return !c->bad;
}

static void packet_print(struct stream *s, const struct packet *p)
{
	const struct jis_packet_header *ph = (const void *)p->bytes;
	struct cursor c = {p->bytes + JIS_PACKET_HEADER_SIZE, p->bytes + h.packet_size, 0};
	const unsigned char *end;

	packet_check(s, ph);
	do
		end = c.p;
	while (record_print(s, ph, &c));
	if (!ph->content_size)
		return;
	if (ph->timestamp_end < s->time)
		BAD("slot %u: packet %llu ends before its last record", s->slot, ph->packet_seq);
	if (ph->content_size / 8 != (__u64)(end - p->bytes))
		BAD("slot %u: content size of packet %llu", s->slot, ph->packet_seq);
}

static void slot_print(__u32 slot)
{
	struct stream s = {.slot = slot};
	struct jis_slot *state = &slots()[slot];
	struct packet *p;
	__u32 id;

	for (p = h.heads[slot]; p; p = p->next)
		packet_print(&s, p);
	for (id = 0; id < JIS_MAX_EVENT_ID; id++) {
		if (!state->produced[id] && !state->lost[id] && !h.stored[slot][id])
			continue;
		fprintf(h.out, "count slot=%u id=%u produced=%llu stored=%llu lost=%llu\n", slot,
			id, state->produced[id], h.stored[slot][id], state->lost[id]);
		if (state->produced[id] != h.stored[slot][id] + state->lost[id])
			BAD("slot %u: id %u: produced is not stored + lost", slot, id);
	}
}

static void pool_print(int killed)
{
	__u32 slot, id;

	for (slot = 0; slot < h.slots; slot++)
		slot_print(slot);
	for (id = 0; id < JIS_MAX_EVENT_ID; id++)
		if (header()->no_slot[id])
			fprintf(h.out, "no_slot id=%u count=%llu\n", id, header()->no_slot[id]);
	/* A killed writer may have stored a record and not yet counted it. */
	if (killed && h.bad)
		fprintf(h.out, "killed: counts may be one short\n");
}

/* Serving ------------------------------------------------------------------------------------ */

static void socket_make(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	unlink(path);
	h.listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (h.listener < 0 || bind(h.listener, (struct sockaddr *)&a, sizeof(a)) < 0 ||
	    listen(h.listener, 8) < 0)
		die(path);
}

static void welcome_send(void)
{
	struct jis_agent_message m = {.magic = JIS_AGENT_MAGIC,
				      .protocol = JIS_AGENT_PROTOCOL,
				      .type = h.refuse ? JIS_AGENT_REFUSE : JIS_AGENT_WELCOME,
				      .features = h.features,
				      .pool_size = h.size,
				      .stack_threshold = h.stack_threshold};
	char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8))) = {0};
	struct iovec iov = {&m, sizeof(m)};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	struct cmsghdr *c;

	if (h.refuse) {
		snprintf(m.text, sizeof(m.text), "%s", h.refuse);
	} else {
		msg.msg_control = control;
		msg.msg_controllen = sizeof(control);
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &h.memfd, sizeof(int));
	}
	if (sendmsg(h.client, &msg, MSG_NOSIGNAL) < 0)
		die("sendmsg");
}

/* The next list of methods. */
static void methods_send(void)
{
	struct jis_agent_message m = {.magic = JIS_AGENT_MAGIC,
				      .protocol = JIS_AGENT_PROTOCOL,
				      .type = JIS_AGENT_METHODS,
				      .kind = JIS_METHODS_START};
	const char *rules;

	if (h.sent_methods == h.nr_methods)
		return;
	rules = h.methods[h.sent_methods];
	if (h.sent_methods++)
		m.kind = *rules >= '0' && *rules <= '9' ? JIS_METHODS_GUARD : JIS_METHODS_USER;
	if (!*rules)
		m.type = JIS_AGENT_STOP;
	snprintf(m.text, sizeof(m.text), "%s", rules);
	if (send(h.client, &m, sizeof(m), MSG_NOSIGNAL) < 0)
		die("send");
}

/* Handles one message of the agent; closes the connection at its end. */
static void client_message(void)
{
	struct jis_agent_message m;
	ssize_t n = recv(h.client, &m, sizeof(m), 0);

	if (n <= 0) {
		close(h.client);
		h.client = -1;
		return;
	}
	if (n != (ssize_t)sizeof(m) || m.magic != JIS_AGENT_MAGIC) {
		BAD("message of %zd bytes", n);
		return;
	}
	m.text[sizeof(m.text) - 1] = 0;
	fprintf(h.out, "message type=%u kind=%u pid=%u vm=%u text=%s\n", m.type, m.kind, m.pid,
		m.vm_version, m.text);
	fflush(h.out);
	if (m.type == JIS_AGENT_HELLO) {
		header()->pid = m.pid;
		welcome_send();
	}
	if (m.type == JIS_AGENT_HELLO || m.type == JIS_AGENT_READY ||
	    m.type == JIS_AGENT_METHODS_DONE)
		methods_send();
}

static int serve(pid_t child)
{
	struct pollfd p[2];
	int status;

	for (;;) {
		p[0] = (struct pollfd){.fd = h.client < 0 ? h.listener : -1, .events = POLLIN};
		p[1] = (struct pollfd){.fd = h.client, .events = POLLIN};
		poll(p, 2, 2);
		if (p[0].revents & POLLIN)
			h.client = accept4(h.listener, NULL, NULL, SOCK_CLOEXEC);
		if (p[1].revents)
			client_message();
		if (!h.keep)
			pool_empty(0);
		if (waitpid(child, &status, WNOHANG) == child)
			return status;
	}
}

static pid_t child_start(const char *path, char **argv)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	setenv(JIS_SOCKET_ENV, path, 1);
	execvp(argv[0], argv);
	fprintf(stderr, "poolhost: %s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

static void options(int argc, char **argv)
{
	int c;

	h.out = stdout;
	while ((c = getopt(argc, argv, "+o:p:s:n:d:f:t:m:R:rx")) != -1) {
		switch (c) {
		case 'o':
			h.out = fopen(optarg, "we");
			if (!h.out)
				die(optarg);
			break;
		case 'p':
			h.packets = (__u32)strtoul(optarg, NULL, 0);
			break;
		case 's':
			h.packet_size = (__u32)strtoul(optarg, NULL, 0);
			break;
		case 'n':
			h.slots = (__u32)strtoul(optarg, NULL, 0);
			break;
		case 'd':
			h.dict_packets = (__u32)strtoul(optarg, NULL, 0);
			break;
		case 'f':
			h.features = (__u32)strtoul(optarg, NULL, 16);
			break;
		case 't':
			h.stack_threshold = strtoull(optarg, NULL, 0);
			break;
		case 'm':
			if (h.nr_methods == sizeof(h.methods) / sizeof(*h.methods))
				exit(99);
			h.methods[h.nr_methods++] = optarg;
			h.features |= JIS_FEATURE_METHODS;
			break;
		case 'R':
			h.refuse = optarg;
			break;
		case 'r':
			h.clock = JIS_CLOCK_RAW;
			break;
		case 'x':
			h.keep = 1;
			break;
		default:
			exit(99);
		}
	}
	if (optind + 2 > argc) {
		fprintf(stderr, "usage: poolhost [OPTIONS] SOCKET -- COMMAND ARG...\n");
		exit(99);
	}
}

int main(int argc, char **argv)
{
	int command, status;
	pid_t child;

	options(argc, argv);
	command = optind + 1;
	if (!strcmp(argv[command], "--"))
		command++;
	pool_make();
	socket_make(argv[optind]);
	child = child_start(argv[optind], argv + command);
	if (child < 0)
		die("fork");
	status = serve(child);
	pool_empty(1);
	pool_print(WIFSIGNALED(status));
	fprintf(h.out, "end status=%#x\n", (unsigned int)status);
	fclose(h.out);
	if (h.bad && !WIFSIGNALED(status))
		return 99;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
