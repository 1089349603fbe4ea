/* SPDX-License-Identifier: MIT */
/*
 * Traced methods: what the files of that part of the agent share. methods.c rewrites classes,
 * methods_table.c numbers methods and tells what they are, probes.c has the natives that are
 * called, wrappers.c a shorter way to them.
 */
#ifndef JIS_AGENT_METHODS_H
#define JIS_AGENT_METHODS_H

#include <pthread.h>

#include "agent.h"
#include "choice.h"
#include "classfile.h"
#include "methods_calls.h"

/* A method of a class that has been chosen once. Its number is never another's. */
struct traced {
	struct traced *next; /* of its class */
	__u32 number;
	__u32 told; /* recording to whose dictionary it has been written, as about */
	struct jis_ev_traced_method about;
	__u32 flags_was; /* in force before the request under way */
	__u8 present;	 /* the class as it is now has its probes */
	__u8 wanted;	 /* what it is to be: while its class is rewritten */
	__u8 was;	 /* present before the request under way */
	__u8 off;	 /* by its number; enum jis_methods_asked */
	__u8 noted;	 /* of what its calls cannot tell, the user has been told */
	size_t name_length;
	char text[]; /* name, NUL, descriptor, NUL */
};

/* A class of one loader, of which a method has been chosen, or that the rules must know of. */
struct traced_class {
	struct traced_class *next;
	__u32 loader;
	__u32 hash;
	unsigned int nr_present;
	unsigned int before;		   /* nr_present before the change under way */
	struct traced_class *next_settled; /* of the request under way */
	__u8 settled;			   /* it is among those */
	__u8 late;    /* not prepared when it was chosen: it is rewritten when it is */
	__u8 stuck;   /* the JVM has refused to rewrite it */
	__u8 guessed; /* supers are of its class file only: there may be more above */
	char *supers; /* names of classes above, dotted, each with a NUL; or NULL */
	unsigned int nr_supers;
	struct traced *methods;
	size_t length;
	char name[]; /* dotted, UTF-8 as it is in the class file */
};

/*
 * methods_table.c: under methods_lock, which its user holds; the lock is never held while the JVM
 * is asked for anything. Without it: number of a loader, which the caller keeps alive, the same
 * while it lives; 0: the boot loader. -1: no memory.
 */
extern pthread_mutex_t methods_lock;
long loader_number(JNIEnv *env, jobject loader);
/* name_intern() of its class, 0 of the boot loader. */
__u32 loader_name(long loader);
/* The class, made where @make; NULL: none. */
struct traced_class *traced_class_get(long loader, const char *name, size_t length, int make);
struct traced_class *traced_class_next(const struct traced_class *after);
/* "Lcom/acme/Foo;" is com.acme.Foo, in @text, "Lcom/acme/Foo.0x12;", which is hidden,
 * com.acme.Foo/0x12; its length, 0: an array, or there is no room. */
size_t class_dotted(jclass class, char *text, size_t n);
/* Its method, made with the next number where there is none; NULL: no memory. */
struct traced *traced_get(struct traced_class *class, const struct choice_text *name,
			  const struct choice_text *descriptor);
/* By number; NULL: none. */
struct traced *traced_of_number(__u32 number, struct traced_class **class);
/* Makes the dictionary of this recording have it with these flags. Returns 0 or -errno. */
int traced_tell(struct traced_class *class, struct traced *method, const struct jis_method *m,
		unsigned int flags);
/* The flags that have been told have not come true: those from before still hold. */
void traced_restore(struct traced *method, unsigned int flags);
/* Tells that a chosen method is left as it is; one that has been told as traced; one of a class
 * whose file is not to be had (@file: its source, or NULL). */
void traced_tell_refused(struct traced_class *class, const struct jis_method *m, const char *why);
void traced_tell_stuck(const struct traced *method, const char *why);
struct class_id;
void traced_tell_left(const struct class_id *class, const char *name, const char *descriptor,
		      const char *file, const char *why);
/* Forgets classes whose loaders are gone. Without the lock. */
void traced_sweep(JNIEnv *env);

/* methods_passing.c: classes on their way, under methods_lock. Forgets all. */
void passing_forget(void);
/* There are other rules from now on. */
void passing_rules(void);
/* The class's file goes by; @loaded: again. */
void passing_seen(long loader, const char *name, size_t length, int loaded);
/* It is prepared: did its class file go by under the rules there are now? */
int passing_prepared(long loader, const char *name, size_t length);

/* methods.c */
int methods_capabilities(const jvmtiCapabilities *potential, jvmtiCapabilities *wanted);
int methods_enable(JNIEnv *env);
void methods_disable(JNIEnv *env);
/* With the event of class files on: rewrites what is loaded and chosen. Returns whether the event
 * must stay on. */
int methods_install(JNIEnv *env);
/* The event being on: all classes get their own bytes again. Returns whether it was on for us. */
int methods_remove(JNIEnv *env);
/* Applies further rules; @text: what has become of it. Returns 0 or -errno. */
int methods_change(JNIEnv *env, unsigned int asked, const char *rules, char *text, size_t n);
/* A class file goes by: may replace @bytes, and returns whether it has. */
int methods_put(JNIEnv *env, jclass redefined, jobject loader, const char *name,
		struct jis_bytes *bytes);
/* A class is prepared, which tells what is above it: it may be one to be rewritten soon. */
void methods_prepared(JNIEnv *env, jclass class);
/* Rewrites those that are to be; the control thread, not inside. */
void methods_rewrite_later(JNIEnv *env);

/* methods_supers.c; all under methods_lock */
#define SUPERS_MAX 256u

struct class_id {
	long loader;
	const char *name; /* dotted */
	size_t length;
};

/* Names of what is above, of SUPERS_MAX; returns how many. */
unsigned int supers_list(const struct traced_class *c, struct choice_text *out);
/*
 * What is above a class cannot be asked before it is prepared; most of it is in its class file and
 * in those of classes that were there before: so it has its probes from its first call on. Sets
 * *@class, and what is above it, where a rule chooses it by that.
 */
void supers_guess(const struct choice *choice, struct traced_class **class,
		  const struct class_id *id, const struct jis_bytes *bytes);
struct supers;
/* Asks the JVM what is above a class; without the lock. NULL: no memory; to be freed by free(). */
struct supers *supers_ask(JNIEnv *env, jclass class);
/* Keeps that of a class that rules from @first on choose for it. Returns whether they do. */
int supers_keep(const struct choice *choice, const struct supers *s, const struct class_id *id,
		unsigned int first);
/* How many rules of that kind match what is above. */
unsigned int supers_rules(const struct choice *choice, const struct traced_class *c);

/* methods_left.c: tells which methods of a class that cannot be rewritten are chosen, and @why;
 * NULL: because of what class it is. Without the lock; nothing where the class is not prepared. */
void methods_left(const struct choice *choice, jclass class, const struct class_id *id,
		  const char *why);

/* methods_later.c */
/* Readable when there are classes to be rewritten; -1: cannot be had. */
int methods_later_fd(void);
void methods_later_close(void);
/* Any thread. Returns 0 or -ENOMEM. */
int methods_later_add(JNIEnv *env, jclass class);
/* Waits until those that have been added are done, up to @ms. Outside of all locks of ours. */
void methods_later_wait(unsigned int ms);
/* Those that have been taken are. */
void methods_later_done(void);
/* Takes all: local references to those that are still there, to be freed by free(). */
jclass *methods_later_take(JNIEnv *env, jint *n);

/* markers.c: what the span probes of a method take, which is named so; 0: it cannot be. */
__u32 span_handle(const char *name, size_t length);

/* probes.c */
/* Natives of java.lang.JProbe$, ends with one without a name. */
extern const struct jis_native_method probe_natives[];
/* Before the JVM is up: chooses the way the natives are called. */
void probes_choose(void);
/* Waits until they can be called, and measures them. Returns 0 or -errno. */
int probes_bind(JNIEnv *env);
/* Is the caller, who is inside, in a call of a library method? */
int library_inside(void);
/* A virtual thread is on this kernel thread from now on, or leaves it: its calls go with it. */
void library_switch(__u64 java_tid, int mounted);
/**
 * probes_quiet - whether no thread is in a probe that it was in before. Compiled Java calls most of
 * them as its own, without a mark of the thread's that somebody else could see (as of
 * agent_enter()): so the JVM has all threads stop once, which none does there. @env: of the live
 * JVM, or NULL: it cannot be asked.
 */
int probes_quiet(JNIEnv *env);
/* Writes method_probe. */
void probes_tell(void);
/* The class whose static methods methods are to call at entry and exit; from probes_bind() on. */
const char *probes_class(void);

/* wrappers.c */
#define WRAPPERS_MAX 4u
struct wrapper {
	const char *name;		 /* of a native of java.lang.JProbe$, (I)V */
	void (*leaf)(long unused, jint); /* called by compiled Java instead: in its convention */
	/* Where @leaf jumps to with its arguments and its caller's stack when it has done nothing:
	 * set by wrappers_patch(), before anything calls @leaf. */
	void (**leaf_on)(long unused, jint);
	/* As @leaf, called by the JVM's linker; 1: it has done nothing, the native is to. */
	jint (*linked)(jint);
	const void *jni, *critical; /* what the JVM calls else */
};
/**
 * wrappers_patch - has the JVM's own code for natives jump to C; to be called before any class
 * calls them. All of them or none: where it does not know every byte it changes nothing. What a
 * leaf leaves undone the JVM's code does, from behind what is patched. Returns 0, also when they
 * have been patched before, or -errno.
 */
int wrappers_patch(JNIEnv *env, const struct wrapper *wrappers, unsigned int n);
/* Takes the jumps back. */
void wrappers_restore(void);

/* linker.c */
/**
 * linker_bind - defines LINKED_CLASS, whose static methods have the natives' names and call
 * @wrappers[].linked by the JVM's foreign linker. Runs code of the JDK. Returns, also when it has
 * been done before, 0, 1 where only code that C2 compiles does so and all else calls the natives
 * (JDK 17), or -errno.
 */
int linker_bind(JNIEnv *env, const struct wrapper *wrappers, unsigned int n);

#endif /* JIS_AGENT_METHODS_H */
