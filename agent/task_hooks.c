/* SPDX-License-Identifier: MIT */
/*
 * Where tasks of executors are seen: the hooks that call tasks.c. All places are private or final
 * methods, or such as every way leads through: what a program overrides is not relied upon. None is
 * inside of code marked ReservedStackAccess.
 */
#include "families.h"

#define CONCURRENT "java/util/concurrent/"
#define TOMCAT "org/apache/tomcat/util/threads/ThreadPoolExecutor"
#define TWO "(Ljava/lang/Object;Ljava/lang/Object;)V"
#define ONE "(Ljava/lang/Object;)V"
#define THREE "(Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;)V"
#define RUNNABLE "(Ljava/lang/Runnable;)V"

/* native(this, first parameter) at the start of a method. */
#define GIVEN(class, name, type, native)                                                           \
	.class_name = class, .method = name, .descriptor = type, .probe = native,                  \
	.probe_descriptor = TWO, .nr_locals = 2, .locals = {0, 1}, .optional = 1

/*
 * The pool's queue is passed where the class has it itself. Pool, queue and the
 * task's class are seen again and again: by their hashes they are known without asking the JVM.
 */
#define QUEUE                                                                                      \
	.nr_more = 1, .more = {{.kind = JIS_ARG_FIELD,                                             \
				.field = "workQueue",                                              \
				.type = "L" CONCURRENT "BlockingQueue;",                           \
				.optional = 1}}

#define SUBMIT(class, name, loader)                                                                \
	{                                                                                          \
		.class_name = class, .method = name, .descriptor = RUNNABLE, .probe = "taskGiven", \
		.probe_descriptor = THREE, .nr_locals = 2, .locals = {0, 1}, .optional = 1, QUEUE, \
		.hashes = "0h1h1c2h", .any_loader = loader                                         \
	}

/*
 * A worker: where it begins, asks for a task, has got one, ends. It has got one also where
 * beforeExecute() is called, if that is not overridden: for a worker that was asking when the agent
 * came, whose method still is the old one.
 */
#define TAKES .probe = "workerTakes", .probe_descriptor = THREE, QUEUE, .hashes = "0h0c1h2h"

#define WORKER(class, loader)                                                                      \
	{GIVEN(class, "runWorker", NULL, "workerRun"), .any_loader = loader},                      \
		{.class_name = class,                                                              \
		 .method = "getTask",                                                              \
		 .descriptor = "()Ljava/lang/Runnable;",                                           \
		 .probe = "workerAsks",                                                            \
		 .probe_descriptor = ONE,                                                          \
		 .nr_locals = 1,                                                                   \
		 .locals = {0},                                                                    \
		 .any_loader = loader},                                                            \
		{.class_name = class,                                                              \
		 .method = "getTask",                                                              \
		 .descriptor = "()Ljava/lang/Runnable;",                                           \
		 TAKES,                                                                            \
		 .places = JIS_AT_RETURN,                                                          \
		 .result = 1,                                                                      \
		 .nr_locals = 1,                                                                   \
		 .locals = {0},                                                                    \
		 .any_loader = loader},                                                            \
		{.class_name = class,                                                              \
		 .method = "beforeExecute",                                                        \
		 .descriptor = "(Ljava/lang/Thread;Ljava/lang/Runnable;)V",                        \
		 TAKES,                                                                            \
		 .nr_locals = 2,                                                                   \
		 .locals = {2, 0},                                                                 \
		 .any_loader = loader},                                                            \
	{                                                                                          \
		.class_name = class, .method = "processWorkerExit", .probe = "workerExit",         \
		.probe_descriptor = ONE, .nr_locals = 1, .locals = {0}, .any_loader = loader       \
	}

/* A task's own method, of which nothing but the task has to be known. */
#define RUN(class, name, begin, end)                                                               \
	{.class_name = CONCURRENT class,                                                           \
	 .method = name,                                                                           \
	 .probe = begin,                                                                           \
	 .probe_descriptor = ONE,                                                                  \
	 .nr_locals = 1,                                                                           \
	 .locals = {0},                                                                            \
	 .optional = 1},                                                                           \
	{                                                                                          \
		.class_name = CONCURRENT class, .method = name, .probe = end,                      \
		.probe_descriptor = ONE, .places = JIS_AT_EXIT, .nr_locals = 1, .locals = {0},     \
		.optional = 1                                                                      \
	}

#define FORK(class) RUN(class, "exec", "forkBegin", "forkEnd")
#define FORK_TASK "(Ljava/util/concurrent/ForkJoinTask;)Ljava/util/concurrent/ForkJoinTask;"

const struct agent_hook task_hooks[] = {
	SUBMIT(CONCURRENT "ThreadPoolExecutor", "execute", 0),
	{GIVEN(CONCURRENT "ThreadPoolExecutor", "reject", RUNNABLE, "taskReject")},
	WORKER(CONCURRENT "ThreadPoolExecutor", 0),
	{GIVEN(CONCURRENT "ScheduledThreadPoolExecutor", "delayedExecute", NULL, "taskSubmit")},
	{GIVEN(CONCURRENT "ScheduledThreadPoolExecutor", "reExecutePeriodic", NULL, "taskSubmit")},
	/* Tomcat's own: what its execute() does when the pool refuses may still be taken in. */
	SUBMIT(TOMCAT, "executeInternal", 1),
	{GIVEN(TOMCAT, "execute", RUNNABLE, "taskReject"), .places = JIS_AT_THROW, .any_loader = 1},
	WORKER(TOMCAT, 1),
	/* All that comes from outside, and what workers give to their pool as a whole. */
	{GIVEN(CONCURRENT "ForkJoinPool", "externalSubmit", FORK_TASK, "forkSubmit")},
	{.class_name = CONCURRENT "ForkJoinPool",
	 .method = "poolSubmit",
	 .probe = "forkSubmit",
	 .probe_descriptor = TWO,
	 .nr_locals = 2,
	 .locals = {0, 2},
	 .optional = 1},
	FORK("CompletableFuture$AsyncRun"),
	FORK("CompletableFuture$AsyncSupply"),
	FORK("CompletableFuture$Completion"),
	FORK("ForkJoinTask$RunnableExecuteAction"),
	FORK("ForkJoinTask$AdaptedRunnable"),
	FORK("ForkJoinTask$AdaptedRunnableAction"),
	FORK("ForkJoinTask$AdaptedCallable"),
	FORK("ForkJoinTask$AdaptedInterruptibleCallable"),
	FORK("ForkJoinTask$InterruptibleTask"),
	/* A thread for each task. */
	{GIVEN(CONCURRENT "ThreadPerTaskExecutor", "newThread", NULL, "threadSubmit")},
	RUN("ThreadPerTaskExecutor$TaskRunner", "run", "runnerBegin", "runnerEnd"),
	{.class_name = CONCURRENT "FutureTask",
	 .method = "run",
	 .probe = "runnerBegin",
	 .probe_descriptor = ONE,
	 .nr_locals = 1,
	 .locals = {0},
	 .vm_min = 21},
	{.class_name = CONCURRENT "FutureTask",
	 .method = "run",
	 .probe = "runnerEnd",
	 .probe_descriptor = ONE,
	 .places = JIS_AT_EXIT,
	 .nr_locals = 1,
	 .locals = {0},
	 .vm_min = 21},
	{.class_name = NULL},
};
