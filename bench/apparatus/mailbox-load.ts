import { type Partner, startPartner } from './children.ts';

export interface MailboxLoad {
  /** The check, or a bare socket in one of two ways (raw-smtp.ts). */
  readonly who: 'check' | 'plain' | 'lean';
  readonly port: number;
  /** Addresses of mail hosts of different operators; the domains are spread over them. */
  readonly addresses: readonly string[];
  readonly domains: number;
  readonly count: number;
  /** Concurrent checks. */
  readonly open: number;
  readonly connectionsPerHost: number;
  readonly recipientsPerSession?: number;
  /** A relay on loopback through which the check asks. */
  readonly via?: { readonly port: number; readonly password: string; readonly ca: string | null };
  /** Tarpits at the same port, checked first. */
  readonly tarpits?: { readonly addresses: readonly string[]; readonly count: number };
}

export interface MailboxReport {
  readonly perSecond: number;
  /** CPU of the client process, all threads, per address. */
  readonly cpuMicros: number;
  /** Milliseconds per check. */
  readonly p50: number;
  readonly p99: number;
}

interface Prober {
  run(load: MailboxLoad): Promise<MailboxReport>;
  end(): Promise<void>;
}

export async function startProber(): Promise<Prober> {
  const partner: Partner = await startPartner('mailbox-process.ts');
  return { run: (load) => partner.ask<MailboxReport>(load), end: () => partner.end() };
}
