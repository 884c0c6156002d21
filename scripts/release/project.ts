/**
 * Whose the project is: set once by its owner. `npm run gen` writes it into the manifests of the published packages,
 * and `npm run release` refuses to go on while the placeholder is here.
 */
export const REPOSITORY = 'https://github.com/OWNER/mailvet';
const AUTHOR = 'The Mailvet authors';
const KEYWORDS = ['email', 'verification', 'validation', 'smtp', 'mx', 'disposable', 'self-hosted'];

/** Folders of the published packages. */
export const PUBLISHED = ['.', 'library', 'sdk'] as const;

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
  };
  return `${JSON.stringify({ ...JSON.parse(manifest), ...project }, null, 2)}\n`;
}
