#!/bin/bash
# The first process of the machine that run.sh boots: runs the tests, and turns the machine off.
export PATH=/usr/bin:/usr/sbin:/bin:/sbin HOME=/root MCPBASH_TEST_TRY=/tests/try
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t cgroup2 cgroup /sys/fs/cgroup
mount -t devtmpfs dev /dev
mkdir -p /dev/shm
mount -t tmpfs shm /dev/shm
mount -t tmpfs tmp /tmp
mount -t tmpfs run /run
ln -s /proc/self/fd /dev/fd
ln -s fd/0 /dev/stdin
ln -s fd/1 /dev/stdout
ln -s fd/2 /dev/stderr
/tests/loopback
uname -rm
status=0
set -o pipefail
# The tests are short, because the processors are emulated.
for suite in /tests/*/*.test; do
  echo "= $suite"
  cd "${suite%/*}" && "$suite" -test.v -test.short -test.timeout=50m 2>&1 | grep -v '^=== ' || status=1
done
((status)) || echo "all tests passed"
echo o >/proc/sysrq-trigger
sleep 60
