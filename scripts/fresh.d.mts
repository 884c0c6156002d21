export const ROOT: string;
export function sourceId(): string;
export function isBuilt(): boolean;
export function isInstalled(): boolean;
export function ensureInstalled(): void;
export function runPinned(args: readonly string[], env?: NodeJS.ProcessEnv): boolean;
export function failureOf(args: readonly string[], env?: NodeJS.ProcessEnv): string | null;
export function pinnedPath(): string;
