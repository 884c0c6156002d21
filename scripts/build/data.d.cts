/** Made by library.ts: the files of data/ that the engine reads, by name. */
declare const files: Readonly<Record<string, string>>;
export = files;
