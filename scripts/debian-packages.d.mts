export interface DebianPackage {
  readonly name: string;
  /** The tests that need it. */
  readonly tests: string;
  readonly unpack?: boolean;
}
/** The `tests` value of the servers that `npm run lab` starts. */
export const LABORATORY: string;
export const PACKAGES: readonly DebianPackage[];
export const UNPACKED: string;
export function missingPackages(): DebianPackage[];
export function isDebianRoot(): boolean;
export function installMissing(missing: readonly DebianPackage[]): boolean;
