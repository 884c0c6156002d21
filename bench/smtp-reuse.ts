/** The benefit of sharing sessions among recipients at the same mail hosts. */
import { startProber } from './apparatus/mailbox-load.ts';
import { interleave, median, medianRatio } from './apparatus/measure.ts';
import { type Bench, type Finding, number, ratio } from './apparatus/results.ts';
import { NO_SINK, startSink } from './apparatus/sink.ts';

const ROUNDS = 3;
const ADDRESSES = 10_000;
const DOMAINS = 1000;
const HOSTS = ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5'];
/** The default of MAILVET_SMTP_CONNECTIONS_PER_HOST. */
const CONNECTIONS = 5;
const AT_ONCE = 500;
const AIM = 5;

export const smtpReuse: Bench = {
  name: 'smtp-reuse',
  title: 'SMTP session reuse',
  async run(): Promise<Finding> {
    const sink = await startSink(HOSTS);
    if (sink === null) return { how: 'Not measured.', figures: [], leftOut: [NO_SINK] };
    const common = { who: 'check', port: sink.port, addresses: HOSTS, domains: DOMAINS, count: ADDRESSES } as const;
    const load = { ...common, open: AT_ONCE, connectionsPerHost: CONNECTIONS };
    const [reuse, single] = [await startProber(), await startProber()];
    const contestants = {
      reuse: () => reuse.run(load),
      single: () => single.run({ ...load, recipientsPerSession: 1 }),
    };
    await interleave(1, contestants);
    const samples = await interleave(ROUNDS, contestants);
    await reuse.end();
    await single.end();
    await sink.stop();
    const rates = [samples.reuse, samples.single].map((all) => all.map(({ perSecond }) => perSecond)) as Pair;
    const cpu = [samples.reuse, samples.single].map((all) => all.map(({ cpuMicros }) => cpuMicros)) as Pair;
    const gain = medianRatio(...rates);
    const micros = (values: number[]) => `${number(median(values))} µs`;
    return {
      how: HOW,
      figures: [
        {
          what: 'Addresses per second',
          value: number(median(rates[0])),
          floor: number(median(rates[1])),
          ratio: ratio(gain),
          aim: { text: `≥ ${AIM}`, met: gain >= AIM },
        },
        {
          what: 'CPU of the client per address',
          value: micros(cpu[0]),
          floor: micros(cpu[1]),
          ratio: ratio(medianRatio(...cpu)),
        },
      ],
    };
  },
};

type Pair = [number[], number[]];

const HOW =
  `${ROUNDS} rounds of ${ADDRESSES.toLocaleString('en-US')} addresses over ${DOMAINS.toLocaleString('en-US')} domains at ` +
  `${HOSTS.length} mail hosts (smtp-sink on loopback), ${CONNECTIONS} connections to each, ${AT_ONCE} addresses at once, ` +
  'no rate limit, catch-all cached. The floor is the same with one recipient per session. On loopback a ' +
  'connection costs only CPU; over a network, each saved session also saves four or more round trips.';
