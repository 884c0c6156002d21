import pkg from '../../package.json' with { type: 'json' };

declare const MAILVET_COMMIT: string | undefined;

/** Git's id of the commit that was built, set by the build; null: run from the sources, or built without Git. */
export const COMMIT: string | null = typeof MAILVET_COMMIT === 'string' ? MAILVET_COMMIT : null;

/** The version (semver) is that of package.json. */
export const VERSION: string = pkg.version;
