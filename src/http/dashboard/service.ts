import { ServiceReply } from '../../contract/dashboard/service.ts';
import { type Route, route } from '../route.ts';

/** How the service is, for operators. */
export const SERVICE_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/dashboard/operator/service',
    access: 'operator',
    output: { content: ServiceReply },
    doc: { operationId: 'operatorService', tag: 'Dashboard', summary: 'Throughput, latency, queues, jobs, health' },
    serve:
      ({ serviceStatus }) =>
      async () => ({ body: (await serviceStatus()) satisfies ServiceReply }),
  }),
];
