/** The faults that the laboratory's DNS server can simulate. */
import { randomBytes } from 'node:crypto';
import type { DecodedPacket, Question } from 'dns-packet';
import { type Fault, type Held, honest } from './dns-zone.ts';

interface Case {
  fault: Fault | null;
  query: DecodedPacket;
  question: Question;
  held: Held;
  over: 'udp' | 'tcp';
  edns: boolean;
}

const TYPE = { A: 1, NS: 2, MX: 15, AAAA: 28 } as const;

/** A hand-made record: owner (octets), type, data; `claims` is the data length it declares. */
function record(owner: readonly number[], type: number, data: readonly number[], claims = data.length): Buffer {
  return Buffer.from([...owner, 0, type, 0, 1, 0, 0, 0, 60, claims >> 8, claims & 0xff, ...data]);
}

const label = (text: string): number[] => [text.length, ...Buffer.from(text, 'latin1')];
/** A compression pointer to the name in the question. */
const ASKED = [0xc0, 12];

/** The octets to send for one question, or null for no reply. */
export function forge(at: Case): { octets: Buffer; before?: Buffer; split?: boolean } | null {
  const { fault, question, held, over } = at;
  const id = at.query.id ?? 0;
  const good = (as: Partial<{ id: number; question: Question }> = {}): Buffer =>
    honest({ id: as.id ?? id, question: as.question ?? question }, held);
  const head = honest({ id, question }, { rcode: 0, answers: [], authorities: [] });
  const built = (count: number, ...parts: Buffer[]): { octets: Buffer } => {
    const octets = Buffer.concat([head, ...parts]);
    octets.writeUInt16BE(count, 6);
    return { octets };
  };
  const truncated = { octets: honest({ id, question }, held, true) };
  switch (fault) {
    case 'silent':
      return null;
    case 'truncate':
      return over === 'tcp' ? { octets: good() } : truncated;
    case 'split':
      return over === 'tcp' ? { octets: good(), split: true } : truncated;
    case 'cut':
      return over === 'tcp' ? { octets: good().subarray(0, 20) } : truncated;
    case 'truncate_always':
      return truncated;
    case 'wrong_id':
      return { octets: good({ id: id ^ 1 }) };
    case 'wrong_question':
      return { octets: good({ question: { ...question, name: 'x' + question.name.slice(1) } }) };
    case 'wrong_type':
      return { octets: good({ question: { ...question, type: 'SRV' } }) };
    case 'wrong_class': {
      const octets = good();
      octets[head.length - 1] = 3;
      return { octets };
    }
    case 'echo': {
      const octets = good();
      octets[2]! &= 0x7f;
      return { octets };
    }
    case 'forged_first':
      return { octets: good(), before: good({ id: id ^ 1 }) };
    case 'garbage':
      return { octets: randomBytes(64) };
    case 'garbled':
      return built(3, randomBytes(80));
    case 'self_pointer':
      return built(1, record([0xc0, head.length], TYPE.MX, [0, 10, 0xc0, head.length]));
    case 'pointer_loop':
      return built(1, record([0xc0, head.length + 2, 0xc0, head.length], TYPE.MX, [0, 10, ...ASKED]));
    case 'pointer_chain':
      return built(2, ...pointerChain(head.length));
    case 'lying_length':
      return built(1, record(ASKED, TYPE.MX, [0, 10, ...ASKED], 4000));
    case 'long_address':
      return built(1, record(ASKED, TYPE.A, [127, 0, 0, 1, 9]));
    case 'lying_count': {
      const octets = good();
      octets.writeUInt16BE(60_000, 6);
      return { octets };
    }
    case 'no_edns':
      return { octets: at.edns ? honest({ id, question }, { rcode: 1, answers: [], authorities: [] }) : good() };
    case 'formerr': {
      const octets = honest({ id, question }, { rcode: 1, answers: [], authorities: [] }).subarray(0, 12);
      octets.writeUInt16BE(0, 4);
      return { octets };
    }
    case 'flood':
      if (over === 'udp') return truncated;
      return built(5000, ...Array.from({ length: 4000 }, () => record(ASKED, TYPE.A, [127, 0, 0, 1])));
    case 'odd_names':
      return built(
        2,
        record(ASKED, TYPE.MX, [0, 10, ...label('mx.good.test'), 0]),
        record(ASKED, TYPE.MX, [0, 20, ...label('m\xff\x00x'), 0]),
      );
    case 'first_link':
      return { octets: honest({ id, question }, { rcode: 0, answers: held.answers.slice(0, 1), authorities: [] }) };
    case 'referral':
    case 'referral_aa':
    case 'referral_ra': {
      const octets = Buffer.concat([head, record(ASKED, TYPE.NS, [...label('ns'), 0])]);
      octets.writeUInt16BE(1, 8);
      if (fault !== 'referral_aa') octets[2]! &= 0xfb;
      if (fault !== 'referral_ra') octets[3]! &= 0x7f;
      return { octets };
    }
    default:
      return { octets: good() };
  }
}

/** A record full of pointers, each to the previous one, then records whose owners start at the last. */
function pointerChain(start: number): Buffer[] {
  const data: number[] = [];
  const first = start + 2 + 10;
  data.push(0, 0);
  for (let i = 1; i < 500; i++) data.push(0xc0 | ((first + 2 * (i - 1)) >> 8), (first + 2 * (i - 1)) & 0xff);
  const last = first + data.length - 2;
  return [record(ASKED, 99, data), record([0xc0 | (last >> 8), last & 0xff], TYPE.A, [127, 0, 0, 1])];
}
