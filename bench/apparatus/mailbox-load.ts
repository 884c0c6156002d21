import { type Partner, startPartner } from './children.ts';

export interface MailboxLoad {
  readonly who: 'check' | 'raw';
  readonly port: number;
  /** Of mail hosts, each an operator of its own; the domains are spread over them. */
  readonly addresses: readonly string[];
  readonly domains: number;
  readonly count: number;
  /** Questions at once. */
  readonly open: number;
  readonly connectionsPerHost: number;
  readonly recipientsPerSession?: number;
  /** Servers that drip, at the same port: asked first and never answering. */
  readonly tarpits?: { readonly address: string; readonly count: number };
}

export interface MailboxReport {
  readonly perSecond: number;
  /** CPU of the asking process, all its threads, per address. */
  readonly cpuMicros: number;
  /** Milliseconds from the question to the answer. */
  readonly p50: number;
  readonly p99: number;
}

export interface Asker {
  run(load: MailboxLoad): Promise<MailboxReport>;
  end(): Promise<void>;
}

export async function startAsker(): Promise<Asker> {
  const partner: Partner = await startPartner('mailbox-process.ts');
  return { run: (load) => partner.ask<MailboxReport>(load), end: () => partner.end() };
}
