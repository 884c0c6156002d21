export const ROOT: string;
export const PINNED_NODE: string;
export function sourceId(): string;
export function isBuilt(): boolean;
export function isInstalled(): boolean;
export function ensureInstalled(): void;
export function missingNode(): string;
export function runPinned(args: readonly string[], env?: NodeJS.ProcessEnv): boolean;
