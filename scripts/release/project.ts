/**
 * Whose the project is: set once by its owner. `npm run gen` writes it into the manifests of the published packages,
 * and `npm run release` refuses to go on while the placeholder is here.
 */
export const REPOSITORY = 'https://github.com/OWNER/mailvet';
const AUTHOR = 'The Mailvet authors';
/** By which n8n finds packages. */
const N8N_KEYWORD = 'n8n-community-node-package';
const KEYWORDS = ['email', 'verification', 'validation', 'smtp', 'mx', 'disposable', 'self-hosted'];

/** n8n requires an address of an author. */
const EMAIL = `${REPOSITORY.split('/').at(-2)}@users.noreply.github.com`;

/** Folders of the published packages. */
export const PUBLISHED = ['.', 'library', 'sdk'] as const;
/** The nodes for n8n, which are installed and built apart from the rest. */
export const N8N = 'clients/n8n';

export const isPlaceholder = (repository: string): boolean => repository.includes('/OWNER/');

/**
 * The text of a manifest with what is known of the project. `folder`: of the package in the repository, `.` its root.
 */
export function withProject(manifest: string, folder: string): string {
  const directory = folder === '.' ? {} : { directory: folder };
  const project = {
    repository: { type: 'git', url: `git+${REPOSITORY}.git`, ...directory },
    homepage: `${REPOSITORY}#readme`,
    bugs: { url: `${REPOSITORY}/issues` },
    author: AUTHOR,
    keywords: KEYWORDS,
    ...(folder === N8N ? { author: { name: AUTHOR, email: EMAIL }, keywords: [N8N_KEYWORD, ...KEYWORDS] } : {}),
  };
  return `${JSON.stringify({ ...JSON.parse(manifest), ...project }, null, 2)}\n`;
}
