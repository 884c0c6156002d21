/** The laboratory's DNS server in a separate process. */
import { type DnsLab, type Zone, zone } from '../../tests/lab/dns.ts';
import { answer } from './children.ts';

answer<Zone>(async (records) => {
  const lab: DnsLab = await zone(records);
  // It records all questions for tests, too many in a benchmark.
  setInterval(() => lab.queries.splice(0), 100).unref();
  return lab.port;
});
