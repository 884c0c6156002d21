/** A file of which every node has a copy. */
export interface SharedFile {
  /** Of those that belong together, the beginning is the same. */
  readonly name: string;
  /** ISO 8601 in UTC with milliseconds: of two, the later one counts. */
  readonly made: string;
  readonly text: string;
}

export interface SharedFiles {
  /** Names that begin with `prefix`, in order, without their content. */
  list(prefix: string): Promise<readonly Pick<SharedFile, 'name' | 'made'>[]>;
  read(name: string): Promise<SharedFile | null>;
  /** False: the store has one that was made at the same time or later. */
  put(file: SharedFile): Promise<boolean>;
  /** Deletes those whose name begins with `prefix`. */
  drop(prefix: string): Promise<void>;
}
