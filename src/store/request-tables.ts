/** Requests: counted, and those that were rejected. Times in ms. */
import type { Generated } from 'kysely';
import type { Via } from '../kernel/log-origins.ts';
import type { TrafficRow } from './api/traffic.ts';

interface TrafficHoursTable {
  account_id: string;
  hour: number;
  metric: TrafficRow['metric'];
  bucket: number;
  count: number;
}

interface RejectedRequestsTable {
  id: Generated<number>;
  account_id: string;
  at: number;
  count: number;
  request_id: string | null;
  key_id: string | null;
  client_ip: string | null;
  route: string | null;
  status: number | null;
  code: string | null;
  via: Generated<Via | null>;
}

export interface RequestTables {
  traffic_hours: TrafficHoursTable;
  rejected_requests: RejectedRequestsTable;
}
