export function readJunit(
  xml: string,
  folder: string,
): {
  readonly passed: number;
  readonly failed: readonly { readonly path: string; readonly title: string; readonly message: string }[];
};
