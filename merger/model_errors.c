/* SPDX-License-Identifier: MIT */
/*
 * What a trace says that cannot be, and where its sides contradict each other: by kind, how often,
 * and where first.
 */
#include "model_int.h"

static const char *const error_names[MODEL_NR_ERRORS] = {
	[MODEL_ERROR_MONITOR_END] = "monitor entered without contended enter",
	[MODEL_ERROR_WAIT_END] = "Object.wait ends without begin",
	[MODEL_ERROR_PARK_END] = "park ends without begin",
	[MODEL_ERROR_SLEEP_END] = "sleep ends without begin",
	[MODEL_ERROR_JOIN_END] = "join ends without begin",
	[MODEL_ERROR_DESCRIPTOR_END] = "wait for a descriptor ends without begin",
	[MODEL_ERROR_NESTED] = "wait inside of a wait that can hold none such",
	[MODEL_ERROR_UNENDED] = "wait ends while one inside of it goes on",
	[MODEL_ERROR_OBJECT] = "wait ends on another object than it began on",
	[MODEL_ERROR_DIED_WAITING] = "thread ends inside of a wait",
	[MODEL_ERROR_STARTED_TWICE] = "thread starts twice",
	[MODEL_ERROR_WRONG_THREAD] = "Java thread writes on another's kernel thread",
	[MODEL_ERROR_MOUNTED_TWICE] = "mounted virtual thread is mounted",
	[MODEL_ERROR_CARRIER_TAKEN] = "virtual thread is mounted on a taken carrier",
	[MODEL_ERROR_NOT_MOUNTED] = "virtual thread is active where it is not mounted",
	[MODEL_ERROR_TASK_END] = "task ends without begin",
	[MODEL_ERROR_STACK] = "stack of a wait outside of a wait",
	[MODEL_ERROR_GC_START] = "collection inside of a collection",
	[MODEL_ERROR_GC_FINISH] = "collection ends without begin",
	[MODEL_ERROR_SAFEPOINT_BEGIN] = "safepoint inside of a safepoint",
	[MODEL_ERROR_SAFEPOINT_END] = "safepoint is reached or ends without begin",
	[MODEL_ERROR_CALL_ENTER] = "system call inside of a system call",
	[MODEL_ERROR_CALL_EXIT] = "another system call ends than began",
	[MODEL_ERROR_METHOD_EXIT] = "method ends without begin",
	[MODEL_ERROR_METHOD_UNENDED] = "method ends while one inside of it goes on",
	[MODEL_ERROR_NOT_THERE] = "thread leaves a CPU that it was not on",
	[MODEL_ERROR_CPU_TAKEN] = "thread leaves a CPU that another one was on",
	[MODEL_ERROR_NOT_READY] = "thread gets a CPU that waited, unwoken, or has ended",
	[MODEL_ERROR_ELSEWHERE] = "thread gets a CPU while it runs on another",
	[MODEL_ERROR_WAKER] = "thread wakes another where it does not run",
	[MODEL_ERROR_WOKEN] = "thread is woken that has ended, or that was not made",
};

static const char *const conflict_names[MODEL_NR_CONFLICTS] = {
	[MODEL_CONFLICT_CALL] = "Java waits, the kernel sees an unrelated system call",
	[MODEL_CONFLICT_WORDS] = "Java and the VM's words name different waits",
	[MODEL_CONFLICT_IN_JAVA] = "blocked in a futex while the VM's words say in Java",
	[MODEL_CONFLICT_OFF_CPU] = "record of a blocked thread",
	[MODEL_CONFLICT_OTHER_CALL] = "another system call at the switch than was entered",
};

const char *model_error_name(enum model_error error)
{
	return (unsigned int)error < MODEL_NR_ERRORS ? error_names[error] : "?";
}

const char *model_conflict_name(enum model_conflict conflict)
{
	return (unsigned int)conflict < MODEL_NR_CONFLICTS ? conflict_names[conflict] : "?";
}

static void count(const struct model *m, uint64_t *n, struct model_first *first,
		  struct model_who who)
{
	if (!(*n)++)
		*first = (struct model_first){m->now, who};
}

SELDOM void model_error_count(struct model *m, enum model_error error, struct model_who who)
{
	count(m, &m->counts.errors[error], &m->counts.first_error[error], who);
}

SELDOM void model_conflict_count(struct model *m, enum model_conflict conflict,
				 struct model_who who)
{
	count(m, &m->counts.conflicts[conflict], &m->counts.first_conflict[conflict], who);
}

SELDOM void model_contradict(struct model *m, enum model_error error, uint32_t life)
{
	m->counts.contradictions++;
	model_error_count(m, error, who_is(m, life));
}
