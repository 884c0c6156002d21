/** How what is kept in place of an address begins. */
export const HASH = 'hash:';
export const isKeptHash = (email: string): boolean => email.startsWith(HASH);
