/* SPDX-License-Identifier: MIT */
/*
 * The table of families, and walking it. A family is added here, in include/jis/agent.h and in a
 * file of its own, and nowhere else.
 */
#include "doings.h"
#include "enters.h"
#include "families.h"
#include "methods.h"
#include "rmi.h"
#include "tasks.h"
#include "vmlog.h"
#include "waits.h"

const struct agent_family agent_families[] = {
	{
		.feature = JIS_FEATURE_THREADS,
		.what = "threads",
		.events = {JVMTI_EVENT_THREAD_START, JVMTI_EVENT_THREAD_END},
		.enable = threads_enable,
		.enabled = threads_running,
	},
	{
		.feature = JIS_FEATURE_THREAD_NAMES,
		.what = "later names of threads (Thread.setName)",
		.enable = threads_enable,
		.hooks = thread_name_hooks,
		.hooks_all = 1,
	},
	{
		.feature = JIS_FEATURE_GC,
		.what = "collections",
		.early = 1,
		.events = {JVMTI_EVENT_GARBAGE_COLLECTION_START,
			   JVMTI_EVENT_GARBAGE_COLLECTION_FINISH},
		.capabilities = gc_capabilities,
	},
	{
		.feature = JIS_FEATURE_MARKERS,
		.what = "markers",
		.events = {JVMTI_EVENT_CLASS_PREPARE},
		.enabled = markers_scan,
		.disable = markers_disable,
	},
	{
		.feature = JIS_FEATURE_STACKS,
		.what = "stacks of long waits",
		.capabilities = stacks_capabilities,
		.disable = stacks_disable,
	},
	{
		.feature = JIS_FEATURE_VTHREADS,
		.what = "virtual threads",
		.events = {EVENT_VIRTUAL_THREAD_START, EVENT_VIRTUAL_THREAD_END},
		.capabilities = vthreads_capabilities,
		.enable = vthreads_enable,
		.enabled = vthreads_enabled,
		.disable = vthreads_disable,
	},
	{
		.feature = JIS_FEATURE_MONITORS,
		.what = "waits for monitors",
		.events = {JVMTI_EVENT_MONITOR_CONTENDED_ENTER,
			   JVMTI_EVENT_MONITOR_CONTENDED_ENTERED, JVMTI_EVENT_MONITOR_WAIT,
			   JVMTI_EVENT_MONITOR_WAITED},
		.capabilities = monitors_capabilities,
		.enable = objects_enable,
		.enabled = owners_enabled,
	},
	{
		.feature = JIS_FEATURE_PARKS,
		.what = "parks",
		.enable = parks_enable,
		.enabled = parks_enabled,
		.disable = parks_disable,
		.hooks = park_hooks,
	},
	{
		.feature = JIS_FEATURE_SLEEPS,
		.what = "sleeps and joins",
		.enable = sleeps_enable,
		.enabled = sleeps_enabled,
		.disable = sleeps_disable,
		.hooks = sleep_hooks,
	},
	{
		.feature = JIS_FEATURE_STARTS,
		.what = "starts of threads",
		.enable = starts_enable,
		.enabled = starts_enabled,
		.disable = starts_disable,
		.hooks = start_hooks,
	},
	{
		.feature = JIS_FEATURE_TASKS,
		.what = "tasks of executors",
		.enable = tasks_enable,
		.hooks = task_hooks,
		.hooks_all = 1,
	},
	{
		.feature = JIS_FEATURE_FORKS,
		.what = "forked tasks",
		.enable = forks_enable,
		.hooks = fork_hooks,
		.hooks_all = 1,
	},
	{
		.feature = JIS_FEATURE_QUEUES,
		.what = "what goes through queues",
		.enable = queues_enable,
		.hooks = queue_hooks,
		.hooks_all = 1,
	},
	{
		.feature = JIS_FEATURE_RMI,
		.what = "remote calls",
		.enable = rmi_enable,
		.hooks = rmi_hooks,
		.hooks_all = 1,
	},
	{
		.feature = JIS_FEATURE_ALL_MONITORS,
		.what = "enters and exits of monitors",
		.capabilities = enters_capabilities,
		.enable = enters_enable,
	},
	{
		.feature = JIS_FEATURE_SAFEPOINTS,
		.what = "safepoints",
		.enable = safepoints_enable,
		.disable = safepoints_disable,
	},
	{
		.feature = JIS_FEATURE_HEAP,
		.what = "the heap before and after collections",
		.enable = heap_enable,
		.disable = heap_disable,
	},
	{
		.feature = JIS_FEATURE_CLASSES,
		.what = "classes",
		.events = {JVMTI_EVENT_CLASS_PREPARE},
		.enable = threads_enable,
		.enabled = classes_enabled,
		.disable = classes_disable,
	},
	{
		.feature = JIS_FEATURE_JIT,
		.what = "compilations",
		.events = {JVMTI_EVENT_COMPILED_METHOD_LOAD},
		.capabilities = compilations_capabilities,
		.enable = code_enable,
	},
	{
		.feature = JIS_FEATURE_EXCEPTIONS,
		.what = "exceptions",
		.events = {JVMTI_EVENT_EXCEPTION},
		.capabilities = exceptions_capabilities,
		.enable = code_enable,
	},
	{
		.feature = JIS_FEATURE_ALLOCATIONS,
		.what = "allocations",
		.events = {JVMTI_EVENT_SAMPLED_OBJECT_ALLOC},
		.capabilities = allocations_capabilities,
		.enable = allocations_enable,
	},
	{
		.feature = JIS_FEATURE_METHODS,
		.what = "calls of methods",
		.events = {JVMTI_EVENT_CLASS_PREPARE},
		.capabilities = methods_capabilities,
		.enable = methods_enable,
		.disable = methods_disable,
	},
};

const unsigned int agent_nr_families = sizeof(agent_families) / sizeof(agent_families[0]);

#define FOR_WANTED(family)                                                                         \
	for ((family) = agent_families; (family) < agent_families + agent_nr_families; (family)++) \
		if (agent.features & (family)->feature)

static void event_set(jvmtiEventMode mode, jvmtiEvent event)
{
	jvmtiError error = (*agent.jvmti)->SetEventNotificationMode(agent.jvmti, mode, event, NULL);

	if (error && mode == JVMTI_ENABLE)
		recorder_note("JVMTI event %d cannot be had: error %d", event, error);
}

/* What each family wants by itself, so that one that cannot be had costs no other. */
void families_capabilities(void)
{
	jvmtiCapabilities potential, wanted;
	const struct agent_family *f;

	FOR_WANTED(f)
	{
		memset(&potential, 0, sizeof(potential));
		memset(&wanted, 0, sizeof(wanted));
		(*agent.jvmti)->GetPotentialCapabilities(agent.jvmti, &potential);
		wanted.can_retransform_classes = f->hooks && !agent.no_rewrite;
		if (f->hooks_all && (!agent.hotspot || agent.no_rewrite)) {
			agent.features &= ~f->feature;
			continue;
		}
		if ((wanted.can_retransform_classes && !potential.can_retransform_classes) ||
		    (f->capabilities && f->capabilities(&potential, &wanted) < 0) ||
		    (*agent.jvmti)->AddCapabilities(agent.jvmti, &wanted)) {
			agent.features &= ~f->feature;
			recorder_note("this JVM cannot give what it takes: %s are not recorded",
				      f->what);
		}
	}
}

void families_events_enable(int early)
{
	const struct agent_family *f;
	unsigned int i;

	FOR_WANTED(f)
	for (i = 0; f->early == early && i < AGENT_EVENTS_MAX && f->events[i]; i++)
		event_set(JVMTI_ENABLE, f->events[i]);
}

/* Of all, wanted or not: an event that is not on can be switched off. */
void families_events_disable(void)
{
	const struct agent_family *f = agent_families;
	unsigned int i;

	for (; f < agent_families + agent_nr_families; f++)
		for (i = 0; i < AGENT_EVENTS_MAX && f->events[i]; i++)
			event_set(JVMTI_DISABLE, f->events[i]);
}

void families_enable(JNIEnv *env)
{
	const struct agent_family *f;

	FOR_WANTED(f)
	if (f->enable && f->enable(env) < 0)
		agent.features &= ~f->feature;
}

void families_enabled(JNIEnv *env)
{
	const struct agent_family *f;

	FOR_WANTED(f)
	if (f->enabled)
		f->enabled(env);
}

void families_disable(JNIEnv *env)
{
	const struct agent_family *f = agent_families + agent_nr_families;

	while (f-- > agent_families)
		if ((agent.features & f->feature) && f->disable)
			f->disable(env);
}

void families_forget(JNIEnv *env)
{
	objects_forget(env);
	tasks_forget();
	pools_forget(env);
	stacks_forget();
	peers_forget(env);
	rmi_connections_forget(env);
}
