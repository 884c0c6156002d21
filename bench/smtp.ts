/** Dialogues per second and their CPU: the mailbox check against a minimal pipelined client, on the same server. */
import { type MailboxReport, startProber } from './apparatus/mailbox-load.ts';
import { cpuSeconds, interleave, median, medianRatio } from './apparatus/measure.ts';
import { startRelayProcess } from './apparatus/relay.ts';
import { type Bench, type Figure, type Finding, number, ratio } from './apparatus/results.ts';
import { NO_SINK, startSink } from './apparatus/sink.ts';

const ROUNDS = 7;
/** Where many are open. */
const AIM = 0.65;
/** Dialogues to warm up both. */
const WARM = 10_000;
const ADDRESS = '127.0.0.2';
/** Concurrent dialogues, and dialogues per sample. */
const LOADS = [
  [1, 500],
  [64, 4000],
  [512, 4000],
] as const;

export const smtp: Bench = {
  name: 'smtp',
  title: 'SMTP dialogues',
  async run(): Promise<Finding> {
    const sink = await startSink([ADDRESS]);
    if (sink === null) return { how: 'Not measured.', figures: [], leftOut: [NO_SINK] };
    const [check, plain, lean] = [await startProber(), await startProber(), await startProber()];
    const figures: Figure[] = [];
    const warm = { port: sink.port, addresses: [ADDRESS], domains: 1, count: WARM, open: 64, connectionsPerHost: 64 };
    await check.run({ ...warm, who: 'check', recipientsPerSession: 1 });
    await plain.run({ ...warm, who: 'plain' });
    await lean.run({ ...warm, who: 'lean' });
    for (const [open, count] of LOADS) {
      const load = { port: sink.port, addresses: [ADDRESS], domains: 1, count, open, connectionsPerHost: open };
      const contestants = {
        check: () => check.run({ ...load, who: 'check', recipientsPerSession: 1 }),
        plain: () => plain.run({ ...load, who: 'plain' }),
        lean: () => lean.run({ ...load, who: 'lean' }),
      };
      await interleave(1, contestants);
      const samples = await interleave(ROUNDS, contestants);
      const rates = perSecond(samples.check);
      const floors = perSecond(samples.plain);
      const leanest = perSecond(samples.lean);
      const [cpu, least] = [samples.check, samples.plain].map((all) => all.map(({ cpuMicros }) => cpuMicros)) as Pair;
      const share = medianRatio(rates, floors);
      figures.push(
        {
          what: `Dialogues per second, ${open} open`,
          value: number(median(rates)),
          floor: number(median(floors)),
          ratio: ratio(share),
          ...(open === 1 ? {} : { aim: { text: `≥ ${AIM}`, met: share >= AIM } }),
        },
        {
          what: 'The same; the floor reads and closes as the check does',
          value: number(median(rates)),
          floor: number(median(leanest)),
          ratio: ratio(medianRatio(rates, leanest)),
        },
        {
          what: `CPU of the client per dialogue, ${open} open`,
          value: `${number(median(cpu))} µs`,
          floor: `${number(median(least))} µs`,
          ratio: ratio(medianRatio(cpu, least)),
        },
      );
    }
    figures.push(...(await throughRelays(sink)));
    await check.end();
    await plain.end();
    await lean.end();
    await sink.stop();
    return { how: HOW, figures };
  },
};

/** Of direct dialogues. */
const RELAY_AIM = 0.8;
const RELAY_LOADS = LOADS.filter(([open]) => open > 1);

/** Microseconds of CPU per dialogue, of each process. */
interface RelaySample extends MailboxReport {
  readonly relay: number;
  readonly server: number;
}

/** The check through a relay, beside the same without one. */
async function throughRelays({ port, pids }: { readonly port: number; readonly pids: readonly number[] }) {
  const [plain, tls] = [await startRelayProcess(port, false), await startRelayProcess(port, true)];
  const [direct, overPlain, overTls] = [await startProber(), await startProber(), await startProber()];
  const figures: Figure[] = [];
  const load = { who: 'check', port, addresses: [ADDRESS], domains: 1, recipientsPerSession: 1 } as const;
  for (const [open, count] of [[64, WARM] as const, ...RELAY_LOADS]) {
    const run = { ...load, count, open, connectionsPerHost: open };
    const used = (of: readonly number[]) => of.reduce((sum, pid) => sum + cpuSeconds(pid), 0);
    const measured = async (relay: readonly number[], go: () => Promise<MailboxReport>): Promise<RelaySample> => {
      const [relayBefore, serverBefore] = [used(relay), used(pids)];
      const report = await go();
      const each = (seconds: number) => (seconds * 1e6) / count;
      return { ...report, relay: each(used(relay) - relayBefore), server: each(used(pids) - serverBefore) };
    };
    const contestants = {
      direct: () => measured([], () => direct.run(run)),
      plain: () => measured([plain.pid], () => overPlain.run({ ...run, via: plain.via })),
      tls: () => measured([tls.pid], () => overTls.run({ ...run, via: tls.via })),
    };
    await interleave(1, contestants);
    if (count === WARM) continue;
    const samples = await interleave(ROUNDS, contestants);
    for (const [what, of] of [
      ['without TLS', samples.plain],
      ['with TLS', samples.tls],
    ] as const)
      figures.push(...relayFigures(what, open, of, samples.direct));
  }
  for (const prober of [direct, overPlain, overTls]) await prober.end();
  await plain.stop();
  await tls.stop();
  return figures;
}

function relayFigures(what: string, open: number, of: readonly RelaySample[], direct: readonly RelaySample[]) {
  const [rates, floors] = [perSecond(of), perSecond(direct)];
  const [share, bound] = [medianRatio(rates, floors), medianRatio(of.map(boundOf), direct.map(boundOf))];
  const cpu = (samples: readonly RelaySample[], parts: readonly ('cpuMicros' | 'relay' | 'server')[]) =>
    `${parts.map((part) => number(median(samples.map((one) => one[part])))).join(' + ')} µs`;
  return [
    {
      what: `Dialogues per second through a relay ${what}, ${open} open; the floor is the check without one`,
      value: number(median(rates)),
      floor: number(median(floors)),
      ratio: ratio(share),
      aim: { text: `≥ ${RELAY_AIM}`, met: share >= RELAY_AIM },
    },
    {
      what: 'CPU of client, relay and mail server per dialogue; the ratio is what two cores allow by it',
      value: cpu(of, ['cpuMicros', 'relay', 'server']),
      floor: cpu(direct, ['cpuMicros', 'server']),
      ratio: ratio(bound),
    },
  ];
}

const CORES = 2;
/** Dialogues per second that the cores allow: no process has more than one of them, and all have no more than these. */
const boundOf = ({ cpuMicros, relay, server }: RelaySample): number =>
  1e6 / Math.max(cpuMicros, relay, server, (cpuMicros + relay + server) / CORES);

type Pair = [number[], number[]];

const perSecond = (samples: readonly MailboxReport[]): number[] => samples.map((sample) => sample.perSecond);

const HOW =
  `${ROUNDS} rounds of ${LOADS.map(([, count]) => count.toLocaleString('en-US')).join(', ')} dialogues with smtp-sink on ` +
  'loopback: banner, EHLO, MAIL and RCPT in one packet, QUIT; one recipient per session, catch-all cached. The floor is ' +
  "a bare socket that sends the same commands and looks at the first digit of each reply: with 'data' events and end(), as " +
  'one writes it, and once more with one buffer that all sockets read into, closed at once. Each client runs in its own ' +
  'process; all are warm.';
