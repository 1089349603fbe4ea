/* SPDX-License-Identifier: MIT */
/*
 * Where HotSpot passes (17 to 25), all on its VM thread:
 *   safepoint__begin     it has taken the time at which it asks for a safepoint
 *   record_safepoint_synchronized()  (a function, where libjvm has symbols) all threads have
 * stopped vmops__begin         it begins the VM operation; argument 1: its name, a constant of
 * libjvm safepoint__end       it has let the threads go, and written its log A safepoint is written
 * when it has ended: only then its operation is known.
 */
#include "safepoints.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "elf_image.h"
#include "jis/events.h"
#include "own_stream.h"
#include "proc.h"
#include "recorder.h"
#include "uprobes.h"

#define PACKET_BYTES 16384u
#define NAME_MAX_BYTES 128
/* HotSpot has some ninety operations. */
#define NAMES_MAX 256u

enum place { BEGIN, END, OPERATION, REACHED, NR_PLACES, NR_PROBES = REACHED };

static const struct elf_want places[NR_PLACES] = {
	[BEGIN] = {.provider = "hs_private", .name = "safepoint__begin"},
	[END] = {.provider = "hs_private", .name = "safepoint__end"},
	[OPERATION] = {.provider = "hotspot", .name = "vmops__begin"},
	[REACHED] = {.name = "_ZN14RuntimeService29record_safepoint_synchronizedEl"},
};

struct safepoints {
	struct safepoints_config config;
	struct elf_image image;
	struct uprobes trial, probes;
	bool set;	  /* the probes are */
	bool searched;	  /* for the function */
	bool off;	  /* paused */
	uint64_t address; /* of vmops__begin in the file; what is loaded is moved */
	uint32_t nr_places;
	enum place kind[NR_PLACES]; /* of each probe */
	uint64_t offsets[NR_PLACES];
	uint64_t begin;		    /* offset of the begin's */
	int reg;		    /* has the operation's name */
	struct clock_sample before; /* when the ring was read last */
	struct clock_sample now;
	struct own_stream records, names;
	uint64_t known[NAMES_MAX]; /* addresses of names; index + 1 is the id */
	uint32_t nr_known;
	/* The safepoint that is under way; 0: not met yet. */
	struct {
		uint64_t begin, reached, operation;
		uint32_t name;
	} open;
	uint64_t missing; /* hits that the ring had no room for, not told yet */
};

/* Finding ------------------------------------------------------------------------------------ */

/* "/proc/PID/map_files/FROM-TO" of libjvm's code: the very file that is mapped, wherever it is. */
static int library_open(pid_t pid)
{
	char path[128], *line = NULL, *name;
	unsigned long long from, to;
	int fd = -ENOENT;
	size_t size = 0;
	char mode[5];
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	if (!maps)
		return -errno;
	while (fd == -ENOENT && getline(&line, &size, maps) > 0) {
		line[strcspn(line, "\n")] = 0;
		name = strrchr(line, '/');
		if (!name || strncmp(name, "/libjvm.so", 10) ||
		    sscanf(line, "%llx-%llx %4s", &from, &to, mode) != 3 || mode[2] != 'x')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", (int)pid, from, to);
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		fd = fd < 0 ? -errno : fd;
	}
	free(line);
	fclose(maps);
	return fd;
}

/* The register that a probe's first argument is in: "8@%r12 8@%rdx -4@%eax". */
static int argument_register(const char *arguments)
{
	const char *at = strchr(arguments, '@');

	return at ? uprobes_register(at + 1, strcspn(at + 1, " ")) : UPROBES_NO_REGISTER;
}

static void place_add(struct safepoints *s, enum place place, uint64_t offset)
{
	s->kind[s->nr_places] = place;
	s->offsets[s->nr_places++] = offset;
}

/* The probes. A function is looked for later: it takes longer, and the JVM waits for us. */
static int places_find(struct safepoints *s, char *why, size_t n)
{
	struct elf_want wants[NR_PROBES];
	int err, i;

	memcpy(wants, places, sizeof(wants));
	err = elf_image_open(&s->image, s->image.fd);
	if (!err)
		err = elf_image_find(&s->image, wants, NR_PROBES);
	if (err < 0 || !wants[BEGIN].found || !wants[END].found) {
		snprintf(why, n,
			 err < 0 ? "its libjvm.so cannot be read" : "its libjvm.so has no probes");
		return err < 0 ? err : -ENOENT;
	}
	for (i = 0; i < NR_PROBES; i++)
		if (wants[i].found && i != BEGIN)
			place_add(s, i, wants[i].site.offset);
	s->begin = wants[BEGIN].site.offset;
	s->address = wants[OPERATION].site.address;
	s->reg = argument_register(wants[OPERATION].site.arguments);
	return 0;
}

/* The JVM's own thread, named "VM Thread": a Java thread may be called so too, but begins later.
 * 0: there is none yet. */
static pid_t vm_thread(pid_t pid)
{
	uint64_t earliest = UINT64_MAX;
	struct proc_stat st;
	uint32_t *tids;
	pid_t found = 0;
	int n = proc_threads(pid, &tids), i;

	for (i = 0; i < n; i++) {
		if (proc_stat_read(pid, (pid_t)tids[i], &st) || strcmp(st.comm, "VM Thread") ||
		    st.start_ticks >= earliest)
			continue;
		earliest = st.start_ticks;
		found = (pid_t)tids[i];
	}
	if (n >= 0)
		free(tids);
	return found;
}

static void clock_sample_now(const struct safepoints *s, struct clock_sample *out)
{
	struct clock_reading reading;

	clock_read_all(s->config.clock, s->config.base, &reading);
	*out = reading.sample;
}

void safepoints_prepare(struct safepoints *s)
{
	struct elf_want want = places[REACHED];

	if (s->searched)
		return;
	s->searched = true;
	if (elf_image_find(&s->image, &want, 1) == 1)
		place_add(s, REACHED, want.site.offset);
	/* Set last: what begins with all of them set is told whole. */
	place_add(s, BEGIN, s->begin);
}

/* As soon as there is a VM thread. That they could not be set is told in the end. */
static void probes_set(struct safepoints *s)
{
	struct uprobes_config config = {.tid = vm_thread(s->config.pid),
					.file = s->image.fd,
					.offsets = s->offsets,
					.reg = s->reg};
	struct proc_status status;

	if (!config.tid || proc_status_read(config.tid, &status))
		return;
	safepoints_prepare(s);
	config.nr = s->nr_places;
	clock_sample_now(s, &s->before);
	if (uprobes_open(&s->probes, &config)) {
		s->config.tried->inode = 0; /* the next JVM's are tried again */
		return;
	}
	s->set = true;
	s->records.builder.proto.owner = status.ns_tid;
	s->names.builder.proto.owner = status.ns_tid;
	if (s->off)
		uprobes_enable(&s->probes, 0);
}

/* One on the first thread, which never comes there. It stays: to remove it takes long. */
static int probe_try(struct safepoints *s, char *why, size_t n)
{
	struct uprobes_config config = {.tid = s->config.pid,
					.file = s->image.fd,
					.nr = 1,
					.offsets = s->offsets,
					.reg = s->reg,
					.unheard = 1};
	struct safepoints_tried *tried = s->config.tried;
	struct stat st = {.st_ino = 0};
	int err;

	(void)fstat(s->image.fd, &st);
	if (st.st_ino && st.st_ino == tried->inode && st.st_dev == tried->device)
		return 0;
	err = uprobes_open(&s->trial, &config);
	if (err)
		snprintf(why, n, "probes cannot be set: %s", strerror(-err));
	else
		*tried = (struct safepoints_tried){st.st_dev, st.st_ino};
	return err;
}

int safepoints_open(const struct safepoints_config *config, struct safepoints **out, char *why,
		    size_t n)
{
	struct safepoints *s = calloc(1, sizeof(*s));
	int err;

	snprintf(why, n, "no memory");
	if (!s)
		return -ENOMEM;
	s->config = *config;
	err = own_stream_init(&s->records, config->process, config->own_pid,
			      config->slot + RECORDER_SLOT_SAFEPOINTS, PACKET_BYTES);
	if (!err)
		err = own_stream_init(&s->names, config->process, config->own_pid,
				      config->slot + RECORDER_SLOT_NAMES, PACKET_BYTES);
	s->image.fd = -1;
	if (err)
		goto err_close;
	s->image.fd = err = library_open(config->pid);
	if (err < 0) {
		snprintf(why, n, "its libjvm.so cannot be opened: %s", strerror(-err));
		goto err_close;
	}
	err = places_find(s, why, n);
	if (!err)
		err = probe_try(s, why, n);
	if (err)
		goto err_close;
	*out = s;
	return 0;

err_close:
	safepoints_close(s);
	return err;
}

/* Writing ------------------------------------------------------------------------------------ */

/* The session's time of @raw: on the line through the last two readings of both clocks. */
static uint64_t ticks_of(const struct safepoints *s, uint64_t raw)
{
	double span = (double)(int64_t)(s->now.monotonic_raw - s->before.monotonic_raw);
	double rate = (double)(int64_t)(s->now.ticks - s->before.ticks) / (span > 0 ? span : 1);

	if (s->config.clock == JIS_CLOCK_RAW)
		return raw - s->config.base;
	return s->now.ticks +
	       (uint64_t)(int64_t)((double)(int64_t)(raw - s->now.monotonic_raw) * rate);
}

/* A text that goes to terminals: the process may have given us any. */
static void text_clean(char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			*text = '?';
}

/* The string_def of the text at @address of the file; 0: there is none. */
static uint32_t name_of(struct safepoints *s, uint64_t address, uint64_t time)
{
	char text[NAME_MAX_BYTES];
	uint32_t id;

	for (id = 0; id < s->nr_known; id++)
		if (s->known[id] == address)
			return JIS_STRING_RECORDER + id + 1;
	if (s->nr_known == NAMES_MAX || elf_image_text(&s->image, address, text, sizeof(text)) <= 0)
		return 0;
	text_clean(text);
	s->known[s->nr_known++] = address;
	id += JIS_STRING_RECORDER + 1;
	own_stream_put(&s->names, JIS_EV_string_def, time, &id, sizeof(id), text);
	return id;
}

/* What is known of the safepoint under way. @end: 0: it has not ended yet. */
static void safepoint_put(struct safepoints *s, uint64_t end)
{
	struct jis_ev_safepoint_begin record = {s->open.name, JIS_SAFEPOINT_PROBE};
	uint64_t reached = s->open.reached ? s->open.reached : s->open.operation;

	if (!s->open.begin)
		return;
	own_stream_put(&s->records, JIS_EV_safepoint_begin, s->open.begin, &record, sizeof(record),
		       NULL);
	if (!s->open.reached)
		record.source = JIS_SAFEPOINT_OPERATION;
	if (reached)
		own_stream_put(&s->records, JIS_EV_safepoint_reached, reached, &record,
			       sizeof(record), NULL);
	record.source = JIS_SAFEPOINT_PROBE;
	if (end)
		own_stream_put(&s->records, JIS_EV_safepoint_end, end, &record, sizeof(record),
			       NULL);
	memset(&s->open, 0, sizeof(s->open));
}

/* Hits of which probe nobody knows, up to @time. */
static void lost_put(struct safepoints *s, uint64_t time)
{
	struct jis_ev_lost_records record = {.count = s->missing,
					     .first = s->records.builder.last,
					     .last = time};

	if (!s->missing)
		return;
	s->missing = 0;
	s->records.lost[0] += record.count;
	s->records.builder.discarded += record.count;
	own_stream_put(&s->records, JIS_EV_lost_records, time, &record, sizeof(record), NULL);
}

static void on_hit(void *ctx, const struct uprobe_hit *hit)
{
	struct safepoints *s = ctx;
	uint64_t time = ticks_of(s, hit->time);

	lost_put(s, time);
	switch (s->kind[hit->probe]) {
	case BEGIN: /* one that is open has no end: hits were lost, which is told */
		memset(&s->open, 0, sizeof(s->open));
		s->open.begin = time;
		break;
	case REACHED:
		s->open.reached = time;
		break;
	case OPERATION: /* others may be in it, and those that need no safepoint are outside */
		if (!s->open.begin || s->open.operation)
			break;
		s->open.operation = time;
		s->open.name = name_of(s, hit->value - (hit->address - s->address), time);
		break;
	default:
		safepoint_put(s, time);
	}
}

/* What they would have been part of is not told either. */
static void on_lost(void *ctx, uint64_t n)
{
	struct safepoints *s = ctx;

	memset(&s->open, 0, sizeof(s->open));
	s->missing += n;
}

static void hits_take(struct safepoints *s)
{
	if (!s->set || !uprobes_any(&s->probes))
		return;
	clock_sample_now(s, &s->now);
	uprobes_read(&s->probes, on_hit, on_lost, s);
	s->before = s->now;
}

int safepoints_drain(struct safepoints *s, bool flush)
{
	int err, e;

	if (!s->set)
		probes_set(s);
	hits_take(s);
	if (!flush)
		return 0;
	err = own_stream_flush(&s->names);
	e = own_stream_flush(&s->records);
	return err ? err : e;
}

bool safepoints_waiting(const struct safepoints *s)
{
	return !s->set;
}

void safepoints_enable(struct safepoints *s, bool on)
{
	if (s->off == !on)
		return;
	s->off = !on;
	if (!s->set)
		return;
	uprobes_enable(&s->probes, on);
	hits_take(s);
	memset(&s->open, 0, sizeof(s->open)); /* one that a pause cuts is not told */
}

void safepoints_counts(const struct safepoints *s, uint64_t *produced, uint64_t *stored,
		       uint64_t *lost)
{
	own_stream_counts(&s->records, produced, stored, lost);
	own_stream_counts(&s->names, produced, stored, lost);
}

int safepoints_finish(struct safepoints *s)
{
	if (s->set) {
		uprobes_enable(&s->probes, 0);
		hits_take(s);
		uprobes_close(&s->probes);
		s->set = false;
	}
	lost_put(s, s->now.ticks);
	safepoint_put(s, 0);
	own_stream_flush(&s->names);
	own_stream_flush(&s->records);
	own_stream_settle(&s->records);
	own_stream_settle(&s->names);
	return s->records.error ? s->records.error : s->names.error;
}

void safepoints_close(struct safepoints *s)
{
	if (!s)
		return;
	uprobes_close(&s->trial);
	uprobes_close(&s->probes);
	own_stream_fini(&s->records);
	own_stream_fini(&s->names);
	if (s->image.fd >= 0)
		close(s->image.fd);
	free(s);
}
