/**
 * On whose behalf a mail server is asked: an opaque text, by which turns are taken. Background work of a tenant, such
 * as its lists, is a tenant of its own, and comes after everybody whose client waits.
 */
const PREFIX = 'background\n';

export const backgroundOf = (tenant: string): string => `${PREFIX}${tenant}`;

export const isBackground = (tenant: string): boolean => tenant.startsWith(PREFIX);
