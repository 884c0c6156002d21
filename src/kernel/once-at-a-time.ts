/** Whoever calls while work is under way shares it, whatever the input: work that hangs is not joined by more of it. */
export function onceAtATime<Input extends readonly unknown[], T>(
  work: (...input: Input) => Promise<T>,
): (...input: Input) => Promise<T> {
  let current: Promise<T> | null = null;
  return (...input) => {
    current ??= work(...input).finally(() => {
      current = null;
    });
    return current;
  };
}
