// Generated from the OpenAPI document by `npm run gen`; edit the contract or scripts/gen/client-types.ts.

interface ClientCall {
  readonly name: string;
  /** Of the path, in its order. */
  readonly parameters: readonly string[];
  readonly body: string | null;
  readonly isFile: boolean;
}

/** By operation. Operations of the service's operators have none. */
export const CLIENT_CALLS: Readonly<Record<string, ClientCall>> = {
  verify: {"name":"verify","parameters":[],"body":"fields","isFile":false},
  forgetSeen: {"name":"seen.forget","parameters":[],"body":null,"isFile":false},
  listVerifications: {"name":"verifications.list","parameters":[],"body":null,"isFile":false},
  getVerification: {"name":"verifications.get","parameters":["id"],"body":null,"isFile":false},
  createList: {"name":"lists.create","parameters":[],"body":"upload","isFile":false},
  lists: {"name":"lists.list","parameters":[],"body":null,"isFile":false},
  getList: {"name":"lists.get","parameters":["id"],"body":null,"isFile":false},
  readList: {"name":"lists.update","parameters":["id"],"body":"fields","isFile":false},
  removeList: {"name":"lists.remove","parameters":["id"],"body":null,"isFile":false},
  startList: {"name":"lists.start","parameters":["id"],"body":null,"isFile":false},
  pauseList: {"name":"lists.pause","parameters":["id"],"body":null,"isFile":false},
  resumeList: {"name":"lists.resume","parameters":["id"],"body":null,"isFile":false},
  cancelList: {"name":"lists.cancel","parameters":["id"],"body":null,"isFile":false},
  listRows: {"name":"lists.rows","parameters":["id"],"body":null,"isFile":false},
  listResults: {"name":"lists.results","parameters":["id"],"body":null,"isFile":true},
  usage: {"name":"usage","parameters":[],"body":null,"isFile":false},
  addFilter: {"name":"filters.add","parameters":[],"body":"fields","isFile":false},
  listFilters: {"name":"filters.list","parameters":[],"body":null,"isFile":false},
  importFilters: {"name":"filters.import","parameters":[],"body":"upload","isFile":false},
  exportFilters: {"name":"filters.export","parameters":[],"body":null,"isFile":true},
  getFilter: {"name":"filters.get","parameters":["id"],"body":null,"isFile":false},
  changeFilter: {"name":"filters.change","parameters":["id"],"body":"fields","isFile":false},
  removeFilter: {"name":"filters.remove","parameters":["id"],"body":null,"isFile":false},
  listPolicies: {"name":"policies.list","parameters":[],"body":null,"isFile":false},
  getPolicy: {"name":"policies.get","parameters":["name"],"body":null,"isFile":false},
  putPolicy: {"name":"policies.put","parameters":["name"],"body":"fields","isFile":false},
  deletePolicy: {"name":"policies.remove","parameters":["name"],"body":null,"isFile":false},
  reportOutcomes: {"name":"outcomes.report","parameters":[],"body":"fields","isFile":false},
  reportOutcomeMessage: {"name":"outcomes.report_message","parameters":[],"body":"message","isFile":false},
  calibration: {"name":"calibration","parameters":[],"body":null,"isFile":false},
  exportPerson: {"name":"privacy.export","parameters":[],"body":"fields","isFile":false},
  erasePerson: {"name":"privacy.erase","parameters":[],"body":"fields","isFile":false},
  createWebhook: {"name":"webhooks.create","parameters":[],"body":"fields","isFile":false},
  listWebhooks: {"name":"webhooks.list","parameters":[],"body":null,"isFile":false},
  getWebhook: {"name":"webhooks.get","parameters":["id"],"body":null,"isFile":false},
  changeWebhook: {"name":"webhooks.change","parameters":["id"],"body":"fields","isFile":false},
  deleteWebhook: {"name":"webhooks.remove","parameters":["id"],"body":null,"isFile":false},
  rotateWebhookSecret: {"name":"webhooks.rotate_secret","parameters":["id"],"body":null,"isFile":false},
  testWebhook: {"name":"webhooks.test","parameters":["id"],"body":null,"isFile":false},
  listDeliveries: {"name":"webhooks.deliveries","parameters":["id"],"body":null,"isFile":false},
  replayDelivery: {"name":"webhooks.replay","parameters":["id"],"body":null,"isFile":false},
};
