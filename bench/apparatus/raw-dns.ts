/** The floor of the resolver: encode, send, receive, decode. No cache, retries or deadline; checks only the ID. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { decode, encode, RECURSION_DESIRED } from 'dns-packet';

/** Queries the MX of every name, `atOnce` concurrently; throws if one has none. */
export async function rawQuestions(port: number, names: readonly string[], atOnce: number): Promise<void> {
  const socket = createSocket('udp4');
  socket.connect(port, '127.0.0.1');
  await once(socket, 'connect');
  let [next, answered] = [0, 0];
  const ask = (): void => {
    const name = names[next];
    if (name === undefined) return;
    const id = next++ & 0xffff;
    socket.send(encode({ type: 'query', id, flags: RECURSION_DESIRED, questions: [{ type: 'MX', name }] }));
  };
  await new Promise<void>((resolve, reject) => {
    socket.on('message', (octets) => {
      if (decode(octets).answers?.length !== 1) reject(new Error('a raw question was not answered'));
      answered += 1;
      if (answered === names.length) resolve();
      ask();
    });
    for (let i = 0; i < atOnce; i++) ask();
  });
  socket.close();
}
