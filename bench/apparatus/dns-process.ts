/** The laboratory's DNS server in a process of its own. */
import { type DnsLab, type Zone, zone } from '../../tests/lab/dns.ts';
import { answer } from './children.ts';

answer<Zone>(async (records) => {
  const lab: DnsLab = await zone(records);
  // It remembers every question for tests; a bench asks too many of them.
  setInterval(() => lab.queries.splice(0), 100).unref();
  return lab.port;
});
