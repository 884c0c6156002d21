/** The answer of a zone literal to one question, encoded as a correct recursive server would. */
import { type Answer, AUTHORITATIVE_ANSWER, encode, RECURSION_AVAILABLE, TRUNCATED_RESPONSE } from 'dns-packet';
import type { RecordType } from '../../src/engine/dns/message.ts';

/** Simulated faults (dns-faults.ts). */
export type Fault =
  | 'servfail'
  | 'refused'
  /** No reply at all. */
  | 'silent'
  /** Replies after this many milliseconds. */
  | { readonly slow: number }
  /** TC and nothing else over UDP; the full reply over TCP. */
  | 'truncate'
  /** Like `truncate`; the TCP reply starts with one octet per packet. */
  | 'split'
  /** Like `truncate`; TCP closes in the middle of the reply. */
  | 'cut'
  /** TC even over TCP. */
  | 'truncate_always'
  /** Wrong ID, question, type or class; a query instead of a reply. */
  | 'wrong_id'
  | 'wrong_question'
  | 'wrong_type'
  | 'wrong_class'
  | 'echo'
  /** A forged reply with a wrong ID, then the real one. */
  | 'forged_first'
  /** Random octets, including the ID. */
  | 'garbage'
  /** The correct ID and question, then random octets. */
  | 'garbled'
  /** A record whose owner is a pointer to itself. */
  | 'self_pointer'
  /** Two pointers to each other. */
  | 'pointer_loop'
  /** A chain of pointers through the whole message, and records that all start at its end. */
  | 'pointer_chain'
  /** A record with a length beyond the end of the message. */
  | 'lying_length'
  /** An A record of five octets. */
  | 'long_address'
  /** A record count that is too high. */
  | 'lying_count'
  /** FORMERR with EDNS, a correct answer without. */
  | 'no_edns'
  /** FORMERR for everything, only a header. */
  | 'formerr'
  /** 5,000 records over TCP. */
  | 'flood'
  /** An MX whose target is one label with dots in it, and one of 8-bit octets. */
  | 'odd_names'
  /** Only the first CNAME of a chain, like a server that is not authoritative for the rest. */
  | 'first_link'
  /** NOERROR, no answer, NS records of another server; from one that says it is authoritative, or that it recurses. */
  | 'referral'
  | 'referral_aa'
  | 'referral_ra';

export interface Entry {
  readonly A?: readonly string[];
  readonly AAAA?: readonly string[];
  /** Preference and host; `''` is the root (null MX: `[[0, '']]`). */
  readonly MX?: readonly (readonly [number, string])[];
  readonly TXT?: readonly string[];
  readonly PTR?: readonly string[];
  readonly NS?: readonly string[];
  readonly CNAME?: string;
  /** Seconds; default 300. */
  readonly ttl?: number;
  /** For every type, or for some. */
  readonly fault?: Fault | Partial<Record<RecordType, Fault>>;
}
export type Zone = Readonly<Record<string, Entry>>;

export interface Negative {
  /** Seconds, TTL and minimum of the SOA under every "no"; 60 when left out. Null: no SOA at all. */
  readonly negativeTtl?: number | null;
  /** What names outside of the zone get. */
  readonly outside?: 'nxdomain' | 'refused';
}

const RCODE = { noerror: 0, formerr: 1, servfail: 2, nxdomain: 3, refused: 5 } as const;

/** What the zone says about one question. */
export interface Held {
  rcode: number;
  answers: Answer[];
  authorities: Answer[];
}

export function faultOf(entry: Entry | undefined, type: RecordType): Fault | null {
  const fault = entry?.fault;
  if (fault === undefined || typeof fault === 'string') return fault ?? null;
  return 'slow' in fault ? fault : (fault[type] ?? null);
}

/** The entry of a name, or the wildcard that covers it. */
export function find(names: ReadonlyMap<string, Entry>, name: string): Entry | undefined {
  const exact = names.get(name);
  if (exact || existsBelow(names, name)) return exact;
  for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) {
    const parent = name.slice(dot + 1);
    const wild = names.get('*.' + parent);
    if (wild || names.has(parent)) return wild;
  }
  return names.get('*');
}

const existsBelow = (names: ReadonlyMap<string, Entry>, name: string): boolean => {
  for (const key of names.keys()) if (key.endsWith('.' + name)) return true;
  return false;
};

export const no = (rcode: keyof typeof RCODE): Held => ({ rcode: RCODE[rcode], answers: [], authorities: [] });

export function lookUp(names: ReadonlyMap<string, Entry>, asked: string, type: string, options: Negative): Held {
  const held = no('noerror');
  let name = asked;
  for (let links = 0; links < 20; links++) {
    const entry = find(names, name);
    if (!entry) {
      const exists = name === '.' || existsBelow(names, name);
      if (!exists && held.answers.length === 0 && options.outside === 'refused') return no('refused');
      if (!exists) held.rcode = RCODE.nxdomain;
      break;
    }
    held.answers.push(...recordsOf(entry, name, type));
    if (held.answers.some((a) => a.type === type) || entry.CNAME === undefined || type === 'CNAME') break;
    held.answers.push({ type: 'CNAME', name, ttl: entry.ttl ?? 300, data: entry.CNAME });
    name = entry.CNAME;
  }
  const found = held.answers.some((answer) => answer.type === type);
  const ttl = options.negativeTtl === undefined ? 60 : options.negativeTtl;
  if (!found && ttl !== null) held.authorities.push(soa(ttl));
  return held;
}

const soa = (ttl: number): Answer => ({
  type: 'SOA',
  name: '.',
  ttl,
  data: { mname: 'ns.lab', rname: 'root.lab', serial: 1, refresh: 1, retry: 1, expire: 1, minimum: ttl },
});

function recordsOf(entry: Entry, name: string, type: string): Answer[] {
  const ttl = entry.ttl ?? 300;
  switch (type) {
    case 'A':
    case 'AAAA':
    case 'PTR':
    case 'NS':
      return (entry[type] ?? []).map((data) => ({ type, name, ttl, data }));
    case 'MX':
      return (entry.MX ?? []).map(([preference, exchange]) => ({
        type,
        name,
        ttl,
        data: { preference, exchange: exchange === '' ? '.' : exchange },
      }));
    case 'TXT':
      return (entry.TXT ?? []).map((text) => ({ type, name, ttl, data: text }));
    case 'CNAME':
      return entry.CNAME === undefined ? [] : [{ type, name, ttl, data: entry.CNAME }];
    default:
      return [];
  }
}

/** A reply's octets, as an honest recursive server would write them. */
export function honest(
  head: { id: number; question: { name: string; type: Answer['type'] } },
  held: Held,
  truncated = false,
): Buffer {
  const flags = AUTHORITATIVE_ANSWER | RECURSION_AVAILABLE | held.rcode | (truncated ? TRUNCATED_RESPONSE : 0);
  return encode({
    type: 'response',
    id: head.id,
    flags,
    questions: [{ ...head.question, class: 'IN' }],
    answers: truncated ? [] : held.answers,
    authorities: truncated ? [] : held.authorities,
  });
}
