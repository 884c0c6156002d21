import type { StdioOptions } from 'node:child_process';

export const ROOT: string;
export function sourceId(): string;
export function isBuilt(): boolean;
export function isInstalled(): boolean;
export function ensureInstalled(): void;
export function runPinned(args: readonly string[], env?: NodeJS.ProcessEnv): boolean;
export function startPinned(
  args: readonly string[],
  how: { env?: NodeJS.ProcessEnv; stdio: StdioOptions },
): Promise<boolean>;
