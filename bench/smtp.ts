/** Dialogues per second and their CPU: the mailbox check against a minimal pipelined client, on the same server. */
import { type MailboxReport, startProber } from './apparatus/mailbox-load.ts';
import { interleave, median, medianRatio } from './apparatus/measure.ts';
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
    figures.push(...(await throughRelays(sink.port)));
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

/** The check through a relay, beside the same without one. */
async function throughRelays(port: number): Promise<Figure[]> {
  const [plain, tls] = [await startRelayProcess(port, false), await startRelayProcess(port, true)];
  const [direct, overPlain, overTls] = [await startProber(), await startProber(), await startProber()];
  const figures: Figure[] = [];
  const load = { who: 'check', port, addresses: [ADDRESS], domains: 1, recipientsPerSession: 1 } as const;
  for (const [open, count] of [[64, WARM] as const, ...RELAY_LOADS]) {
    const run = { ...load, count, open, connectionsPerHost: open };
    const contestants = {
      direct: () => direct.run(run),
      plain: () => overPlain.run({ ...run, via: plain.via }),
      tls: () => overTls.run({ ...run, via: tls.via }),
    };
    await interleave(1, contestants);
    if (count === WARM) continue;
    const samples = await interleave(ROUNDS, contestants);
    const floors = perSecond(samples.direct);
    const row = (what: string, of: readonly MailboxReport[]): Figure => {
      const share = medianRatio(perSecond(of), floors);
      return {
        what: `Dialogues per second through a relay${what}, ${open} open; the floor is the check without one`,
        ...{ value: number(median(perSecond(of))), floor: number(median(floors)), ratio: ratio(share) },
        aim: { text: `≥ ${RELAY_AIM}`, met: share >= RELAY_AIM },
      };
    };
    figures.push(row(' without TLS', samples.plain), row(' with TLS', samples.tls));
  }
  for (const prober of [direct, overPlain, overTls]) await prober.end();
  await plain.stop();
  await tls.stop();
  return figures;
}

type Pair = [number[], number[]];

const perSecond = (samples: readonly MailboxReport[]): number[] => samples.map((sample) => sample.perSecond);

const HOW =
  `${ROUNDS} rounds of ${LOADS.map(([, count]) => count.toLocaleString('en-US')).join(', ')} dialogues with smtp-sink on ` +
  'loopback: banner, EHLO, MAIL and RCPT in one packet, QUIT; one recipient per session, catch-all cached. The floor is ' +
  "a bare socket that sends the same commands and looks at the first digit of each reply: with 'data' events and end(), as " +
  'one writes it, and once more with one buffer that all sockets read into, closed at once. Each client runs in its own ' +
  'process; all are warm.';
