import pkg from '../../package.json' with { type: 'json' };

/** This program's version (semver), from package.json. */
export const VERSION: string = pkg.version;
