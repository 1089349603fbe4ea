// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ioctls of /dev/jis: copies arguments in and out, checks sizes, reserved words and the
 * session's state, and nothing else. Everything that comes from user space is read once and is
 * hostile.
 */
#include <linux/cpumask.h>
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "jis.h"
#include "pool.h"

/* Copies a structure in that begins with its own size. */
static int copy_in(void *to, const void __user *from, u32 size)
{
	if (copy_from_user(to, from, size))
		return -EFAULT;
	return *(u32 *)to == size ? 0 : -EINVAL;
}

static int copy_out(void __user *to, const void *from, u32 size)
{
	return copy_to_user(to, from, size) ? -EFAULT : 0;
}

static int ioctl_setup(struct jis_session *s, void __user *arg)
{
	struct jis_setup setup;
	int err = copy_in(&setup, arg, sizeof(setup));

	if (err)
		return err;
	if (s->state != JIS_SESSION_NEW)
		return -EBADFD;
	err = jis_session_setup(s, &setup);
	return err ?: copy_out(arg, &setup, sizeof(setup));
}

static int ioctl_target(struct jis_session *s, unsigned int cmd, void __user *arg)
{
	struct jis_target target;
	int err = copy_in(&target, arg, sizeof(target));

	if (err)
		return err;
	err = jis_filter_check(&target, cmd == JIS_IOC_TARGET_ADD);
	if (err)
		return err;
	if (s->state == JIS_SESSION_NEW || s->state == JIS_SESSION_STOPPED)
		return -EBADFD;
	switch (cmd) {
	case JIS_IOC_TARGET_ADD:
		return jis_filter_add(s, &target);
	case JIS_IOC_TARGET_REMOVE:
		return jis_filter_remove(s, &target);
	default:
		return jis_filter_test(s, &target);
	}
}

static int ioctl_syscalls(struct jis_session *s, void __user *arg)
{
	struct jis_syscalls *set;
	int err;

	if (s->state == JIS_SESSION_NEW || s->state == JIS_SESSION_STOPPED)
		return -EBADFD;
	set = kmalloc(sizeof(*set), GFP_KERNEL);
	if (!set)
		return -ENOMEM;
	err = copy_in(set, arg, sizeof(*set));
	if (!err)
		err = jis_syscalls_set(s, set);
	kfree(set);
	return err;
}

/* The descriptor is the caller's only when he has been told its number. */
static int ioctl_pool_create(struct jis_session *s, void __user *arg)
{
	struct jis_pool_create pool;
	int err = copy_in(&pool, arg, sizeof(pool)), fd;
	struct file *file;

	if (err)
		return err;
	if (pool.fd || !pool.pid || memchr_inv(pool.reserved, 0, sizeof(pool.reserved)))
		return -EINVAL;
	if (s->state == JIS_SESSION_NEW || s->state == JIS_SESSION_STOPPED)
		return -EBADFD;
	fd = get_unused_fd_flags(O_CLOEXEC);
	if (fd < 0)
		return fd;
	err = jis_pool_create(s, &pool, &file);
	if (err)
		goto err_put_fd;
	pool.fd = fd;
	err = copy_out(arg, &pool, sizeof(pool));
	if (err)
		goto err_put_file;
	fd_install(fd, file);
	return 0;

err_put_file:
	fput(file); /* the pool goes with its process, or with the session */
err_put_fd:
	put_unused_fd(fd);
	return err;
}

/* What goes from state to state, and which state it needs. */
static int ioctl_control(struct jis_session *s, unsigned int cmd)
{
	u32 state = s->state;

	switch (cmd) {
	case JIS_IOC_START:
		return state == JIS_SESSION_READY ? jis_session_start(s) : -EBADFD;
	case JIS_IOC_PAUSE:
		return state == JIS_SESSION_RUNNING ? jis_session_pause(s) : -EBADFD;
	case JIS_IOC_RESUME:
		return state == JIS_SESSION_PAUSED ? jis_session_resume(s) : -EBADFD;
	case JIS_IOC_FLUSH:
		if (state == JIS_SESSION_STOPPED)
			return 0;
		return state == JIS_SESSION_NEW ? -EBADFD : jis_session_flush(s);
	case JIS_IOC_FREEZE:
	case JIS_IOC_THAW:
		if (state != JIS_SESSION_RUNNING && state != JIS_SESSION_PAUSED)
			return -EBADFD;
		return jis_session_freeze(s, cmd == JIS_IOC_FREEZE);
	case JIS_IOC_DUMP:
		if (state != JIS_SESSION_RUNNING)
			return -EBADFD;
		jis_dump_targets(s, true);
		return 0;
	default: /* STOP */
		if (state == JIS_SESSION_STOPPED)
			return 0;
		return state == JIS_SESSION_NEW ? -EBADFD : jis_session_stop(s);
	}
}

static int ioctl_locked(struct jis_session *s, unsigned int cmd, void __user *arg)
{
	int err = mutex_lock_interruptible(&s->lock);

	if (err)
		return err;
	switch (cmd) {
	case JIS_IOC_SETUP:
		err = ioctl_setup(s, arg);
		break;
	case JIS_IOC_TARGET_ADD:
	case JIS_IOC_TARGET_REMOVE:
	case JIS_IOC_TARGET_TEST:
		err = ioctl_target(s, cmd, arg);
		break;
	case JIS_IOC_SYSCALLS:
		err = ioctl_syscalls(s, arg);
		break;
	case JIS_IOC_POOL_CREATE:
		err = ioctl_pool_create(s, arg);
		break;
	default:
		err = ioctl_control(s, cmd);
	}
	mutex_unlock(&s->lock);
	return err;
}

/* The ring of a CPU number that came from user space; NULL: there is none. */
static struct jis_ring *ring_of(struct jis_session *s, u32 cpu)
{
	if (cpu >= nr_cpu_ids || !cpu_possible(cpu))
		return NULL;
	return per_cpu_ptr(s->rings, cpu);
}

static int ioctl_get_packet(struct jis_session *s, void __user *arg)
{
	struct jis_get_packet got;
	struct jis_ring *r;
	int err = copy_in(&got, arg, sizeof(got));

	if (err)
		return err;
	r = ring_of(s, got.cpu);
	if (!r || got.reserved)
		return -EINVAL;
	if (!jis_ring_exists(r))
		return -ENXIO;
	err = jis_ring_get(r, jis_session_state(s) == JIS_SESSION_STOPPED, jis_now(s), &got);
	if (err)
		return err;
	err = copy_out(arg, &got, sizeof(got));
	if (err)
		jis_ring_unget(r, got.index);
	return err;
}

static int ioctl_status(struct jis_session *s, void __user *arg)
{
	struct jis_status status;
	int err = copy_in(&status, arg, sizeof(status));

	if (err)
		return err;
	if (memchr_inv(status.reserved, 0, sizeof(status.reserved)))
		return -EINVAL;
	memset(&status, 0, sizeof(status));
	status.size = sizeof(status);
	jis_session_status(s, &status);
	return copy_out(arg, &status, sizeof(status));
}

static int ioctl_counters(struct jis_session *s, void __user *arg)
{
	struct jis_counters *c;
	struct jis_ring *r;
	u32 head[2]; /* size, cpu */
	int err, i;

	if (copy_from_user(head, arg, sizeof(head)))
		return -EFAULT;
	r = ring_of(s, head[1]);
	if (head[0] != sizeof(*c) || !r)
		return -EINVAL;
	c = kzalloc(sizeof(*c), GFP_KERNEL);
	if (!c)
		return -ENOMEM;
	c->size = sizeof(*c);
	c->cpu = head[1];
	for (i = 0; i < JIS_MAX_EVENT_ID; i++) {
		c->produced[i] = jis_count(r->produced[i]);
		c->lost[i] = jis_count(r->lost[i]);
	}
	err = copy_out(arg, c, sizeof(*c));
	kfree(c);
	return err;
}

/**
 * jis_ioctl - what include/jis/abi.h says.
 *
 * Errors beside those of each call: -ENOTTY unknown; -EFAULT; -EINVAL for a wrong size, a reserved
 * word that is not zero, a flag or CPU that does not exist; -EBADFD for a call the session's state
 * does not allow; -EPERM for a caller without the session's rights; -EINTR.
 */
long jis_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct jis_session *s = file->private_data;
	void __user *user = (void __user *)arg;

	if (jis_rights_check(s))
		return -EPERM;
	switch (cmd) {
	case JIS_IOC_GET_PACKET:
	case JIS_IOC_COUNTERS:
		if (jis_session_state(s) == JIS_SESSION_NEW)
			return -EBADFD;
		if (cmd == JIS_IOC_COUNTERS)
			return ioctl_counters(s, user);
		return ioctl_get_packet(s, user);
	case JIS_IOC_STATUS:
		return ioctl_status(s, user);
	case JIS_IOC_SETUP:
	case JIS_IOC_TARGET_ADD:
	case JIS_IOC_TARGET_REMOVE:
	case JIS_IOC_TARGET_TEST:
	case JIS_IOC_SYSCALLS:
	case JIS_IOC_POOL_CREATE:
	case JIS_IOC_START:
	case JIS_IOC_PAUSE:
	case JIS_IOC_RESUME:
	case JIS_IOC_STOP:
	case JIS_IOC_FLUSH:
	case JIS_IOC_FREEZE:
	case JIS_IOC_THAW:
	case JIS_IOC_DUMP:
		return ioctl_locked(s, cmd, user);
	}
	return -ENOTTY;
}
