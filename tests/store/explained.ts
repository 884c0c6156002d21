/** What PostgreSQL says of the statements of a store: a server in between that keeps it. */
import { type AddressInfo, connect, createServer } from 'node:net';

/** The server explains every statement to its client, as it has run it. */
const EXPLAINED = [
  'session_preload_libraries=auto_explain',
  'auto_explain.log_min_duration=0',
  'auto_explain.log_analyze=on',
  'auto_explain.log_timing=off',
  'auto_explain.log_buffers=on',
  'client_min_messages=log',
];

/** Passes everything on, and keeps what the server says. */
export async function listener(target: string) {
  const { hostname, port } = new URL(target);
  const said: Buffer[] = [];
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    upstream.on('data', (data) => said.push(data));
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const)
      from
        .on('error', () => to.destroy())
        .on('close', () => to.destroy())
        .pipe(to);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(target);
  url.port = String((server.address() as AddressInfo).port);
  url.searchParams.set('options', EXPLAINED.map((setting) => `-c ${setting}`).join(' '));
  return {
    url: url.href,
    said: () =>
      Buffer.concat(said)
        .toString('latin1')
        .split(/(?=Query Text:)|\0/),
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}
