/** The rules of the suffix list, which the package has no function to enumerate: for tests. */
declare module 'tldts/dist/es6/src/data/trie.js' {
  export * from 'tldts/dist/types/src/data/trie.js';
}
