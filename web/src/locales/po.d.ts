declare module '*.po' {
  /** Compiled, by id. */
  export const messages: import('@lingui/core').Messages;
}
