#!/bin/sh
# The first process of the laboratory's own PID and mount namespace: sees to the files that the daemons expect of a
# machine, starts them, and ends when its standard input does; the kernel then ends all the others with it.
set -eu
dir=$1 packages=$2

mount --bind "$dir/etc/passwd" /etc/passwd
mount --bind "$dir/etc/group" /etc/group
mount --bind "$dir/etc/hosts" /etc/hosts
mount --bind "$dir/etc/resolv.conf" /etc/resolv.conf
mount --bind "$dir/etc/nsswitch.conf" /etc/nsswitch.conf
mount -t tmpfs -o mode=755 tmpfs /run
mount -t tmpfs -o mode=755 tmpfs /var/lib
mount -t tmpfs -o mode=755 tmpfs /var/spool
mkdir -p /var/lib/opensmtpd/empty /var/spool/smtpd
chmod 711 /var/spool/smtpd
chown -R postfix "$dir/postfix/data"
chown -R postgrey "$dir/postgrey"
chown -R Debian-exim "$dir/exim"
chown -R nsd "$dir/dns"
chmod 1777 "$dir/log"

run() {
  name=$1
  shift
  "$@" >>"$dir/log/$name.out" 2>&1 &
}
run nsd nsd -d -c "$dir/config/nsd.conf"
run unbound unbound -d -c "$dir/config/unbound.conf"
run postgrey postgrey --inet="$3.249:10023" --delay=2 --dbdir="$dir/postgrey" --user=postgrey --group=nogroup \
  --whitelist-clients=/dev/null --whitelist-recipients=/dev/null --auto-whitelist-clients=0 --hostname=mx.grey.test
run postfix postfix -c "$dir/config" start-fg
run exim "$packages/exim4-daemon-light/usr/sbin/exim4" -C "$dir/config/exim.conf" -bdf
run opensmtpd "$packages/opensmtpd/usr/sbin/smtpd" -d -f "$dir/config/smtpd.conf"
exec cat >/dev/null
