/** The ways in which the laboratory's DNS server lies. */
import { randomBytes } from 'node:crypto';
import type { DecodedPacket, Question } from 'dns-packet';
import { honest, type Told } from './dns-zone.ts';

export type Fault =
  | 'servfail'
  | 'refused'
  /** No reply at all. */
  | 'silent'
  /** Answers after so many milliseconds. */
  | { readonly slow: number }
  /** TC and nothing else over UDP; the whole over TCP. */
  | 'truncate'
  /** As `truncate`, the reply over TCP one octet per packet at first. */
  | 'split'
  /** As `truncate`, and TCP ends in the middle of the reply. */
  | 'cut'
  /** TC over TCP too. */
  | 'truncate_always'
  /** Another id; another question; another type; another class; a query instead of a reply. */
  | 'wrong_id'
  | 'wrong_question'
  | 'wrong_type'
  | 'wrong_class'
  | 'echo'
  /** A forged reply with a wrong id first, the true one after it. */
  | 'forged_first'
  /** Random octets, the id among them. */
  | 'garbage'
  /** The right id and question, then random octets. */
  | 'garbled'
  /** A record whose owner is a pointer to itself. */
  | 'self_pointer'
  /** Two pointers that lead to each other. */
  | 'pointer_loop'
  /** A chain of pointers through the whole message, and records that all begin at its far end. */
  | 'pointer_chain'
  /** A record that claims to be longer than the message. */
  | 'lying_length'
  /** An A record of five octets. */
  | 'long_address'
  /** More records announced than are there. */
  | 'lying_count'
  /** FORMERR to EDNS, a good answer without. */
  | 'no_edns'
  /** FORMERR to everything, with nothing but a header. */
  | 'formerr'
  /** 5,000 records over TCP. */
  | 'flood'
  /** An MX whose target is one label that holds dots, and one of 8-bit octets. */
  | 'odd_names'
  /** Of a chain of CNAMEs the first only, as a server that holds nothing else of it. */
  | 'first_link'
  /** NOERROR, no answer, NS records of another server. */
  | 'referral';

interface Case {
  fault: Fault | null;
  query: DecodedPacket;
  question: Question;
  told: Told;
  over: 'udp' | 'tcp';
  edns: boolean;
}

const TYPE = { A: 1, NS: 2, MX: 15, AAAA: 28 } as const;

/** A record by hand: owner (octets), type, data; `claims` is what it says of the length of its data. */
function record(owner: readonly number[], type: number, data: readonly number[], claims = data.length): Buffer {
  return Buffer.from([...owner, 0, type, 0, 1, 0, 0, 0, 60, claims >> 8, claims & 0xff, ...data]);
}

const label = (text: string): number[] => [text.length, ...Buffer.from(text, 'latin1')];
/** A compression pointer to the name in the question. */
const ASKED = [0xc0, 12];

/** The octets to send for one question, or null for silence. */
export function forge(at: Case): { octets: Buffer; before?: Buffer; split?: boolean } | null {
  const { fault, question, told, over } = at;
  const id = at.query.id ?? 0;
  const good = (as: Partial<{ id: number; question: Question }> = {}): Buffer =>
    honest({ id: as.id ?? id, question: as.question ?? question }, told);
  const head = honest({ id, question }, { rcode: 0, answers: [], authorities: [] });
  const built = (count: number, ...parts: Buffer[]): { octets: Buffer } => {
    const octets = Buffer.concat([head, ...parts]);
    octets.writeUInt16BE(count, 6);
    return { octets };
  };
  const truncated = { octets: honest({ id, question }, told, true) };
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
      return { octets: honest({ id, question }, { rcode: 0, answers: told.answers.slice(0, 1), authorities: [] }) };
    case 'referral': {
      const octets = Buffer.concat([head, record(ASKED, TYPE.NS, [...label('ns'), 0])]);
      octets.writeUInt16BE(1, 8);
      octets[2]! &= 0xfb;
      octets[3]! &= 0x7f;
      return { octets };
    }
    default:
      return { octets: good() };
  }
}

/** A record full of pointers, each to the one before it, then records whose owners start at the last of them. */
function pointerChain(start: number): Buffer[] {
  const data: number[] = [];
  const first = start + 2 + 10;
  data.push(0, 0);
  for (let i = 1; i < 500; i++) data.push(0xc0 | ((first + 2 * (i - 1)) >> 8), (first + 2 * (i - 1)) & 0xff);
  const last = first + data.length - 2;
  return [record(ASKED, 99, data), record([0xc0 | (last >> 8), last & 0xff], TYPE.A, [127, 0, 0, 1])];
}
