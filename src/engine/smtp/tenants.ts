/**
 * On whose behalf a mail server is asked: an opaque text, by which turns are taken. Background work of an account, such
 * as its lists, is a tenant of its own, and comes after everybody whose client waits.
 */
const PREFIX = 'background\n';

/** Our own questions to canary domains (egress.ts): breakers do not hold them up, so that they can contradict. */
export const CANARIES = 'canaries';

export const backgroundOf = (account: string): string => `${PREFIX}${account}`;

export const isBackground = (tenant: string): boolean => tenant.startsWith(PREFIX);

/** Whose work it is. */
export const accountOf = (tenant: string): string => (isBackground(tenant) ? tenant.slice(PREFIX.length) : tenant);
