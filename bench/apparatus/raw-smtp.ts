/**
 * The floor of the mailbox check: the same commands on a bare socket. No limits on time or size, no classifier, no
 * transcript, no queue; it counts the last lines of replies and checks only their first digit.
 */
import { connect, type Socket } from 'node:net';
import { createSecureContext, type SecureContext, connect as wrapTls } from 'node:tls';

interface RawQuestion {
  readonly address: string;
  readonly port: number;
  readonly recipient: string;
}

/** What to send after the banner and after each completely answered group, and the number of replies per group. */
const GROUPS = (recipient: string): readonly (readonly [text: string, replies: number])[] => [
  ['EHLO verify.mailvet.test\r\n', 1],
  [`MAIL FROM:<verify@verify.mailvet.test>\r\nRCPT TO:<${recipient}>\r\n`, 2],
  ['QUIT\r\n', 1],
];

/** Counts the last lines of replies received so far, and keeps an incomplete line. */
function counter(): (chunk: Buffer) => number {
  let rest = '';
  return (chunk) => {
    const text = rest + chunk.toString('latin1');
    let [count, start] = [0, 0];
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      if (text[start] !== '2') throw new Error(`unexpected: ${text.slice(start, end)}`);
      if (text[start + 3] !== '-') count++;
      start = end + 1;
    }
    rest = text.slice(start);
    return count;
  };
}

/** What lean sockets read into, as in the check: nothing refers to it afterwards. */
const INPUT = Buffer.allocUnsafeSlow(64 * 1024);

/**
 * Banner, EHLO, MAIL and RCPT in one packet, QUIT; resolves when the socket is closed. `plain`: as one writes it, with
 * 'data' events, and end() when QUIT is answered; `lean`: it reads into one buffer and closes at once, as the check
 * does.
 */
export function rawDialogue({ address, port, recipient }: RawQuestion, how: 'plain' | 'lean'): Promise<void> {
  return new Promise((resolve, reject) => {
    const groups = GROUPS(recipient);
    const count = counter();
    let [step, awaited, answered] = [0, 1, false];
    const hear = (chunk: Buffer): void => {
      awaited -= count(chunk);
      if (awaited > 0) return;
      const group = groups[step++];
      if (group === undefined) {
        answered = true;
        if (how === 'plain') socket.end();
        else socket.destroy();
        return;
      }
      awaited = group[1];
      socket.write(group[0]);
    };
    const callback = (octets: number): true => {
      hear(INPUT.subarray(0, octets));
      return true;
    };
    const where = { host: address, port, noDelay: true, autoSelectFamily: false };
    const socket = connect(how === 'plain' ? where : { ...where, onread: { buffer: INPUT, callback } });
    if (how === 'plain') socket.on('data', hear);
    socket.on('error', reject);
    socket.on('close', () => (answered ? resolve() : reject(new Error('the server hung up'))));
  });
}

let context: SecureContext | null = null;

/** A dialogue that stops after sending MAIL and RCPT; with `tls`, after STARTTLS. */
export function rawWaiting({ address, port, recipient }: RawQuestion, tls: boolean): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const [[ehlo], [transaction]] = GROUPS(recipient) as [[string, number], [string, number]];
    const speak = (socket: Socket, lines: readonly string[], then: () => void): void => {
      const count = counter();
      let step = 0;
      socket.on('error', reject);
      socket.on('data', function heard(chunk: Buffer) {
        if (count(chunk) === 0) return;
        socket.write(lines[step++]!);
        if (step < lines.length) return;
        socket.off('data', heard);
        then();
      });
    };
    const plain = connect({ host: address, port, noDelay: true, autoSelectFamily: false });
    if (!tls) return speak(plain, [ehlo, transaction], () => resolve(plain.resume()));
    speak(plain, [ehlo, 'STARTTLS\r\n'], () =>
      plain.once('data', () => {
        context ??= createSecureContext();
        const secure = wrapTls({ socket: plain, secureContext: context, rejectUnauthorized: false });
        secure.once('secureConnect', () => secure.write(ehlo));
        speak(secure, [transaction], () => resolve(secure.resume()));
      }),
    );
  });
}
