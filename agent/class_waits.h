/* SPDX-License-Identifier: MIT */
/*
 * Waits for classes that other threads initialise: which class it was.
 */
#ifndef JIS_AGENT_CLASS_WAITS_H
#define JIS_AGENT_CLASS_WAITS_H

#include "agent.h"

/* An Object.wait of the calling thread, Java thread @java_tid, ends: if it was a wait for a class
 * it is written which; inside. */
void class_wait_ended(JNIEnv *env, __u64 java_tid);

/*
 * The trial, once in the life of a JVM, by two threads at the same time: class_waits_hold() is the
 * helper's part, class_waits_try() that of who wants to know. Each waits for the other two seconds
 * at most; @callable is what natives_callable() said, which may take longer and so comes first.
 */
void class_waits_hold(JNIEnv *env);
void class_waits_try(JNIEnv *env, int callable);
/* Is a wait that ends on the calling thread the trial's? */
int class_waits_trial_is(JNIEnv *env);
/* Is the class known of such waits? */
int class_waits_known(void);

#endif /* JIS_AGENT_CLASS_WAITS_H */
