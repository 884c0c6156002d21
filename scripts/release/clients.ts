import { spawnSync } from 'node:child_process';

/** The first Python that can build the client in Python: that of the PATH, or that of the system; null if none can. */
export const pythonWithHatchling = (): string | null =>
  ['python3', '/usr/bin/python3'].find(
    (name) => spawnSync(name, ['-c', 'import hatchling'], { stdio: 'ignore' }).status === 0,
  ) ?? null;

/** The version in a pyproject.toml of ours; undefined if it has none. */
export const pythonVersion = (pyproject: string): string | undefined => /^version = "(.*)"$/m.exec(pyproject)?.[1];

/**
 * The bill of materials of the client in Python (CycloneDX 1.5). Its dependencies have no versions of ours: each is
 * named with what the client requires of it.
 */
export function pythonSbom(pyproject: string): object {
  const [, required = ''] = /^dependencies = \[(.*)\]$/m.exec(pyproject) ?? [];
  const version = pythonVersion(pyproject);
  const components = [...required.matchAll(/"(([\w-]+)[^"]*)"/g)].map(([, requirement, name]) => ({
    type: 'library',
    name,
    purl: `pkg:pypi/${name}`,
    scope: 'required',
    properties: [{ name: 'requirement', value: requirement }],
  }));
  const component = { type: 'library', name: 'mailvet', version, purl: `pkg:pypi/mailvet@${version}` };
  return bom(component, components);
}

/** That of the client in PHP, which requires no other package. */
export function phpSbom(version: string): object {
  const purl = `pkg:composer/mailvet/mailvet@${version}`;
  return bom({ type: 'library', group: 'mailvet', name: 'mailvet', version, purl }, []);
}

/** That of the nodes for n8n, which brings what they use. */
export const n8nSbom = (version: string): object =>
  bom({ type: 'library', name: 'n8n-nodes-mailvet', version, purl: `pkg:npm/n8n-nodes-mailvet@${version}` }, []);

const bom = (component: object, components: readonly object[]) => ({
  bomFormat: 'CycloneDX',
  specVersion: '1.5',
  version: 1,
  metadata: { component },
  components,
});
