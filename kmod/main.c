// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module and its device: /dev/jis, one session for each open file. Owns the file operations and
 * the account of memory that all sessions share; what a session does is in session.c.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/poll.h>

#include "jis.h"

/* Pages of all rings there are. */
static atomic_long_t charged;

/* What mappings of rings name as their file, instead of the device's. */
struct file *jis_map_file;

/* All sessions together may take half of the machine's memory. */
unsigned long jis_max_pages(void)
{
	return totalram_pages() / 2;
}

/*
 * Restricted sessions get none once half of that is taken, by whomever: the rest is for those with
 * full rights.
 */
int jis_charge(const struct jis_session *s, unsigned long pages)
{
	unsigned long most = s->restricted ? jis_max_pages() / 2 : jis_max_pages();

	if (atomic_long_add_return(pages, &charged) <= most)
		return 0;
	atomic_long_sub(pages, &charged);
	return -ENOMEM;
}

void jis_uncharge(unsigned long pages)
{
	atomic_long_sub(pages, &charged);
}

static int jis_open(struct inode *inode, struct file *file)
{
	struct jis_session *s;
	int err;

	s = jis_session_create();
	if (!s)
		return -ENOMEM;
	err = jis_rights_open(s);
	if (err) {
		jis_session_destroy(s);
		return err;
	}
	file->private_data = s;
	return nonseekable_open(inode, file);
}

static int jis_release(struct inode *inode, struct file *file)
{
	jis_session_destroy(file->private_data);
	return 0;
}

static int jis_mmap(struct file *file, struct vm_area_struct *vma)
{
	const unsigned int shift = 40 - PAGE_SHIFT; /* JIS_MMAP_RING() in pages */
	struct jis_session *s = file->private_data;
	unsigned long cpu = vma->vm_pgoff >> shift;
	struct jis_ring *r;
	int err = jis_rights_check(s);

	if (err)
		return err;
	if (jis_session_state(s) == JIS_SESSION_NEW)
		return -EBADFD;
	if (vma->vm_pgoff & ((1ul << shift) - 1) || cpu >= nr_cpu_ids || !cpu_possible(cpu))
		return -EINVAL;
	r = per_cpu_ptr(s->rings, cpu);
	return jis_ring_exists(r) ? jis_ring_map(r, vma) : -ENXIO;
}

static __poll_t jis_poll(struct file *file, poll_table *wait)
{
	struct jis_session *s = file->private_data;
	bool stopped, drained = true;
	__poll_t mask = 0;
	int cpu;

	poll_wait(file, &s->wait, wait);
	if (jis_rights_check(s) || jis_session_state(s) == JIS_SESSION_NEW)
		return EPOLLERR;
	stopped = jis_session_state(s) == JIS_SESSION_STOPPED;
	for_each_possible_cpu(cpu) {
		struct jis_ring *r = per_cpu_ptr(s->rings, cpu);

		if (!jis_ring_exists(r))
			continue;
		if (jis_ring_ready(r) >= s->watermark)
			mask = EPOLLIN | EPOLLRDNORM;
		drained &= jis_ring_drained(r);
	}
	if (stopped)
		mask = drained ? EPOLLHUP : EPOLLIN | EPOLLRDNORM;
	return mask;
}

static const struct file_operations jis_fops = {
	.owner = THIS_MODULE,
	.open = jis_open,
	.release = jis_release,
	.mmap = jis_mmap,
	.poll = jis_poll,
	.unlocked_ioctl = jis_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static struct miscdevice jis_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "jis",
	.fops = &jis_fops,
	.mode = 0600,
};

static int __init jis_init(void)
{
	int err = jis_probes_find();

	if (err)
		return err;
	jis_map_file = compat_shmem_file("jis-ring", 0);
	if (IS_ERR(jis_map_file))
		return PTR_ERR(jis_map_file);
	err = jis_sessions_init();
	if (err)
		goto err_put;
	err = misc_register(&jis_device);
	if (err)
		goto err_sessions;
	return 0;

err_sessions:
	jis_sessions_exit();
err_put:
	fput(jis_map_file);
	return err;
}

static void __exit jis_exit(void)
{
	misc_deregister(&jis_device);
	jis_sessions_exit();
	fput(jis_map_file);
}

module_init(jis_init);
module_exit(jis_exit);

MODULE_DESCRIPTION("JIS: records what the kernel does with the threads of chosen processes");
MODULE_AUTHOR("The JIS developers");
MODULE_LICENSE("GPL");
MODULE_VERSION(JIS_VERSION);
MODULE_INFO(jis_abi, __stringify(JIS_ABI_VERSION));
MODULE_INFO(jis_schema, __stringify(JIS_SCHEMA_VERSION));
