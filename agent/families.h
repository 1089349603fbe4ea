/* SPDX-License-Identifier: MIT */
/*
 * What can be recorded of a JVM, family by family (JIS_FEATURE_*): its JVMTI events, what else must
 * be done to begin and end it, and the calls it puts into classes of the JDK. The table is
 * families.c; agent.c and life.c walk it and know no family by name.
 *
 * A recording can begin and end many times in one JVM. After its end no event is on, no capability
 * is held and every class has its own bytes again; so what enable() did, disable() undoes.
 */
#ifndef JIS_AGENT_FAMILIES_H
#define JIS_AGENT_FAMILIES_H

#include "agent.h"
#include "classfile.h"

/*
 * A call put at the start of a method of a class of the boot loader, or at other places of it. The
 * native it calls is a static method of java.lang.JProbe$, exported as
 * Java_java_lang_JProbe_00024_<probe>, that returns void; called with zeros and nulls it does
 * nothing. Its begin is agent_enter(), its end agent_leave(). All natives of all families are in
 * the class from the first recording on, because a class cannot get further ones.
 */
struct agent_hook {
	const char *class_name;	      /* "java/lang/Thread" */
	const char *method;	      /* of that class */
	const char *descriptor;	      /* of the method; NULL: any */
	const char *probe;	      /* name of the native */
	const char *probe_descriptor; /* "(Ljava/lang/Thread;Ljava/lang/String;)V" */
	unsigned int places;	      /* JIS_AT_*; 0: at the start */
	unsigned int nr_locals;	      /* its arguments: these locals of the method */
	uint8_t locals[JIS_HOOK_LOCALS];
	unsigned int nr_more; /* and behind them these */
	struct jis_arg more[JIS_HOOK_MORE];
	unsigned int vm_min, vm_max; /* versions of the JVM that have the method; 0: no bound */
	int optional;		     /* no note where the class or the method does not exist */
	int any_loader;		     /* the class is the program's: of whatever loader */
	int result; /* at returns its first argument is what is returned; elsewhere null */
	/* As in struct jis_native_method: the native is "<probe>Hashed". */
	const char *hashes;
};

#define AGENT_EVENTS_MAX 8

struct agent_family {
	__u32 feature;	  /* JIS_FEATURE_*, one bit */
	const char *what; /* for notes: "<what> are not recorded" */
	int early;	  /* its events are on from OnLoad, before the JVM lives */
	jvmtiEvent events[AGENT_EVENTS_MAX]; /* on while it is recorded; ends with 0 */
	/* Adds what it needs to @wanted. Returns 0, or -ENOTSUP: @potential lacks it. NULL: none.
	 */
	int (*capabilities)(const jvmtiCapabilities *potential, jvmtiCapabilities *wanted);
	/*
	 * Begins it in a live JVM, before its events are on and before classes are rewritten.
	 * Returns 0, or -errno after a note: the family is then off. May be NULL.
	 */
	int (*enable)(JNIEnv *env);
	/* With events and hooks on; for what must see every later change. May be NULL. */
	void (*enabled)(JNIEnv *env);
	/* Undoes both, with events and hooks off. @env is NULL where the JVM is about to end. */
	void (*disable)(JNIEnv *env);
	const struct agent_hook *hooks; /* ends with one whose class_name is NULL; or NULL */
	int hooks_all;			/* without its hooks there is nothing of it */
};

/* Hooks of families, each beside its natives. */
extern const struct agent_hook thread_name_hooks[]; /* threads.c */
extern const struct agent_hook park_hooks[];	    /* parks.c */
extern const struct agent_hook start_hooks[];	    /* sleeps.c */
extern const struct agent_hook sleep_hooks[];	    /* sleeps.c */
extern const struct agent_hook task_hooks[];	    /* task_hooks.c */
extern const struct agent_hook queue_hooks[];	    /* queues.c */
extern const struct agent_hook fork_hooks[];	    /* forks.c */
extern const struct agent_hook rmi_hooks[];	    /* rmi.c */

extern const struct agent_family agent_families[];
extern const unsigned int agent_nr_families;

/* families.c: over the families in agent.features. */
/* Asks for their capabilities, and drops those this JVM cannot give, with a note. */
void families_capabilities(void);
/* Switches the events of early ones on (@early), or those of the others. */
void families_events_enable(int early);
void families_events_disable(void);
void families_enable(JNIEnv *env);
void families_enabled(JNIEnv *env);
void families_disable(JNIEnv *env);
/* Forgets what all of them know by ids of the recording that has ended. Nobody may be inside, and
 * none may come in: frames that a former recording has hooked do as soon as a new one is open. */
void families_forget(JNIEnv *env);

#endif /* JIS_AGENT_FAMILIES_H */
