/**
 * NSD (https://nlnetlabs.nl/projects/nsd/) on a free port of loopback with the wildcard zone, where it is installed.
 */
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encode } from 'dns-packet';
import { freePort, keep } from './children.ts';
import { WILDCARD } from './names.ts';

const PROGRAM = '/usr/sbin/nsd';

const zoneText = `$ORIGIN ${WILDCARD}.
$TTL 3600
@ SOA ns hostmaster 1 3600 600 86400 60
@ NS ns
ns A 127.0.0.1
mx A 9.9.9.10
mx AAAA 2620:fe::10
* MX 10 mx
`;

const configuration = (folder: string, port: number): string => `server:
  ip-address: 127.0.0.1@${port}
  username: ""
  chroot: ""
  zonesdir: "${folder}"
  database: ""
  pidfile: "${folder}/nsd.pid"
  xfrdfile: "${folder}/xfrd.state"
  zonelistfile: "${folder}/zone.list"
  xfrdir: "${folder}"
  logfile: "${folder}/nsd.log"
  server-count: 1
  rrl-ratelimit: 0
  rrl-whitelist-ratelimit: 0
remote-control:
  control-enable: no
zone:
  name: "${WILDCARD}"
  zonefile: "zone"
`;

/** Null if NSD is not installed. */
export async function startNameServer(): Promise<{ port: number; stop(): Promise<void> } | null> {
  if (!existsSync(PROGRAM)) return null;
  const folder = mkdtempSync(join(tmpdir(), 'mailvet-bench-nsd-'));
  const port = await freePort();
  writeFileSync(join(folder, 'zone'), zoneText);
  writeFileSync(join(folder, 'nsd.conf'), configuration(folder, port));
  const child = keep(
    spawn(PROGRAM, ['-d', '-c', join(folder, 'nsd.conf')], { stdio: ['ignore', 'ignore', 'inherit'] }),
  );
  await answers(port);
  return {
    port,
    async stop() {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Waits, at most 5 s, until the zone is served. */
async function answers(port: number): Promise<void> {
  const socket = createSocket('udp4');
  socket.on('error', () => {});
  const heard = once(socket, 'message');
  const question = encode({ type: 'query', id: 1, questions: [{ type: 'MX', name: `a.${WILDCARD}` }] });
  const asking = setInterval(() => socket.send(question, port, '127.0.0.1'), 20);
  const late = setTimeout(() => socket.emit('message', null), 5000);
  const [octets] = await heard;
  clearInterval(asking);
  clearTimeout(late);
  socket.close();
  if (octets === null) throw new Error('NSD did not answer within 5 s');
}
