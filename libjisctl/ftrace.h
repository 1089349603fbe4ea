/* SPDX-License-Identifier: MIT */
/*
 * The ftrace backend inside: own tracefs instances are read CPU by CPU (ftrace_read.c), their
 * records are brought into one time order, converted (ftrace_convert.c) and packed (ftrace_out.c).
 * Private.
 *
 * Records of all CPUs must be converted in time order, because whether a thread belongs to a target
 * follows from records of other CPUs. A round reads of every ring what was there when it began,
 * then converts what is not later than that: nothing earlier can come any more (but for a record
 * whose writer had its time and was stopped before it was done; that one is converted late, and
 * stays in order on its own CPU). It does not read until a ring is empty, which it need never be.
 * What we note ourselves, states of threads and losses, is put in the same order.
 */
#ifndef JISCTL_FTRACE_H
#define JISCTL_FTRACE_H

#include "backend.h"
#include "ftrace_format.h"
#include "ftrace_page.h"
#include "ftrace_sources.h"
#include "ftrace_tasks.h"
#include "trace/write.h"
#include "tracefs.h"

#define FT_PACKET_SIZE 65536u
#define FT_PAGES_PER_ROUND 2048u

/* One CPU's ring of an instance, and what was read from it and is not converted yet. */
struct ft_ring {
	int raw_fd, stats_fd; /* -1: the CPU has none */
	uint8_t **pages;      /* of page.page_size bytes, read and not done with */
	uint32_t *bytes;
	uint32_t nr_pages, room, first;
	struct ftrace_page page; /* cursor in pages[first] */
	bool ready;		 /* page stands on a record */
	bool limited;		 /* there was more to read than one round takes */
	uint64_t last;		 /* time of the last record converted, rebased */
	uint64_t records;	 /* raw ones, all kinds */
	uint64_t lost;		 /* as last read from stats */
	uint64_t stats_time;	 /* when */
	uint64_t damaged;	 /* sub-buffers that made no sense */
};

/* A closed packet that waits to be got. */
struct ft_packet {
	struct ft_packet *next;
	uint64_t bytes[]; /* struct jis_packet_header and content */
};

/* One CPU's packets. */
struct ft_out {
	struct packet_builder builder;
	struct ft_packet *first, **last;
	struct ft_packet *given;	      /* the caller has it until the next call */
	uint64_t no_memory[JIS_MAX_EVENT_ID]; /* converted, then lost here */
	uint64_t lost;			      /* by the ring */
	uint32_t round;			      /* whose outcome the caller has seen */
	bool irq_told[2];		      /* the entry of a softirq, of an interrupt */
};

/* Something we know ourselves, to be converted at its time. */
struct ft_note {
	uint64_t time;
	bool loss;
	bool tail;	/* loss: only after the last record up to `time` */
	uint32_t ring;	/* loss: which */
	uint32_t cpu;	/* loss: whose; state: where the thread ran last */
	uint64_t count; /* loss */
	uint64_t since; /* loss: not before */
	uint32_t tid, ns_tid, state;
	uint64_t start_time;
	char comm[FT_COMM_SIZE];
	char *cgroup; /* path: the thread is in cgroup number `state` */
};

struct backend {
	struct backend_config config;
	struct ftrace_formats formats;
	uint8_t kind[65536]; /* by ftrace's event number: 1 + enum ftrace_event, 0 none */
	int tracefs, instance;
	/* Interrupts, softirqs and timers are told of the whole machine, whatever set_event_pid
	 * hides in the other one; -1: they are not recorded. */
	int irq_instance;
	char name[TRACEFS_NAME_MAX], irq_name[TRACEFS_NAME_MAX];
	int epoll;
	uint32_t nr_cpus, nr_rings;
	struct ft_ring *rings; /* of all CPUs, then of all CPUs in irq_instance */
	struct ft_out *outs;
	struct ft_source *sources; /* by CPU */
	struct ft_tasks *tasks;
	struct ft_note *notes; /* in time order, first..last of room */
	size_t notes_first, notes_last, notes_room;
	uint32_t round;
	struct ft_hierarchy *hierarchy; /* of cgroups */
	struct ft_cgroup *cgroups;	/* that are targets */
	uint32_t nr_cgroups;
	struct ft_rule *rules; /* names of programs whose processes are targets */
	uint32_t nr_rules;
	bool all;	 /* everybody is a target */
	bool unfiltered; /* events of all threads come; what is no target's is left out here */
	bool following;	 /* events of the life of processes are on */
	bool recording;	 /* switches and wake-ups too, and records are written */
	bool rescan;	 /* records were lost: look for threads we do not know */
	bool stopped;
	uint64_t since;	       /* records before this are not written */
	uint64_t states_since; /* no record was missed since: states known from then on hold */
};

/* Rebased ticks, now. */
uint64_t ft_now(const struct backend *b);

/* Says something through the session's log; printf-like. */
void ft_log(struct backend *b, int level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* ftrace_instance.c: tracefs and its instances. @why says in words what failed. */
int ft_instance_open(struct backend *b, char *why, size_t n);
int ft_instance_setup(struct backend *b, char *why, size_t n);
/* Sets an option of the instance that has the targets' events. */
int ft_instance_option(struct backend *b, const char *name, const char *value);
int ft_instance_trace(struct backend *b, bool on);
void ft_instance_close(struct backend *b);

/* ftrace_read.c: rings. */
int ft_rings_open(struct backend *b);
void ft_rings_close(struct backend *b);
/* One round: read and convert up to its begin, or everything when @all (tracing is off). */
int ft_round(struct backend *b, bool all);
int ft_note_add(struct backend *b, const struct ft_note *note);

/* ftrace_convert.c: one record of ring @cpu at rebased @time; one note. */
void ft_convert(struct backend *b, uint32_t cpu, uint64_t time, const uint8_t *data, uint32_t size);
void ft_convert_note(struct backend *b, const struct ft_note *note);

/* ftrace.c: events on or off. Returns 0 or -errno. */
int ft_events_enable(struct backend *b, enum ftrace_event first, enum ftrace_event last, bool on);
/* From now on the kernel tells of all threads, and cgroups. */
int ft_unfilter(struct backend *b);

/* ftrace_families.c: JIS_FAMILY_* that can be had. */
uint32_t ft_families(const struct ftrace_formats *formats);
/* Are there any among @wanted whose events belong to no target? */
bool ft_families_everywhere(uint32_t wanted);
/* Are timers told of too? Then wakings by them are. */
bool ft_timers(const struct ftrace_formats *formats);
int ft_families_enable(struct backend *b, bool on);

/* ftrace_cgroups.c */
/* Makes a cgroup a target: its members, and those that come. @fd: its directory. */
int ft_cgroup_add(struct backend *b, int fd);
int ft_cgroup_remove(struct backend *b, int fd);
void ft_cgroups_free(struct backend *b);
/* Names of cgroups are to be told again. */
void ft_cgroups_rename(struct backend *b);
/* Notes the cgroup of a thread of a target, for the trace; with the dump of its state. */
void ft_cgroup_note(struct backend *b, const struct ft_target *target, uint32_t tid, uint64_t time);
void ft_cgroup_emit(struct backend *b, const struct ft_note *note);

/* Is it in one that is a target? */
bool ft_cgroup_covers(const struct backend *b, const struct ft_target *target);

/* ftrace_rules.c */
/* Processes that execute a program of that name from now on are targets with @flags. Returns 0,
 * -EEXIST, -ENOSPC... */
int ft_executable_add(struct backend *b, const char *name, uint32_t flags);
int ft_executable_remove(struct backend *b, const char *name);
/* Everybody is a target, who there is and who comes; no longer those that are for nothing else. */
int ft_all_add(struct backend *b);
int ft_all_remove(struct backend *b);
/* Where everybody is a target: the one that process @pid is, made when there is none; NULL: no
 * memory. */
struct ft_target *ft_all_owner(struct backend *b, uint32_t pid);
void ft_rules_free(struct backend *b);

/* ftrace_syscalls.c */
/* Filters the events to the calls wanted. 0; -EOPNOTSUPP: this kernel tells of none. */
int ft_syscalls_setup(struct backend *b);
/* A call of thread @task at its entry and at its exit; not written unless it is wanted. */
void ft_syscall_enter(struct backend *b, uint32_t cpu, uint64_t time, const struct ft_task *task,
		      int64_t nr, const uint64_t args[6]);
void ft_syscall_exit(struct backend *b, uint32_t cpu, uint64_t time, const struct ft_task *task,
		     int64_t nr, int64_t result);

/* ftrace_dump.c: states of threads from /proc. */
/* The threads of @target; @all false: only those not known yet. Returns how many were noted. */
int ft_dump_target(struct backend *b, struct ft_target *target, bool all);
void ft_dump_all(struct backend *b, bool all);
/* Adds @pid's threads to set_event_pid and to the tables. Returns 0, -ESRCH, -EEXIST... */
int ft_target_follow(struct backend *b, uint32_t pid, uint32_t flags);
/* The same of one thread. */
int ft_thread_follow(struct backend *b, uint32_t tid);

/* ftrace_out.c: packets. */
int ft_outs_open(struct backend *b);
void ft_outs_close(struct backend *b);
void ft_emit(struct backend *b, uint32_t cpu, uint32_t id, uint64_t time, const void *payload,
	     uint32_t len, const char *text);
/* Closes the open packet of @cpu and queues it. */
void ft_out_flush(struct backend *b, uint32_t cpu);
/* An empty packet, with which each stream begins. */
void ft_out_begin(struct backend *b, uint32_t cpu, uint64_t time);
const struct jis_packet_header *ft_out_get(struct backend *b, uint32_t cpu);

#endif /* JISCTL_FTRACE_H */
