/** The properties that are given: without those that are undefined. */
export function given<T extends object>(all: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const some: { [K in keyof T]?: Exclude<T[K], undefined> } = {};
  for (const name in all) if (all[name] !== undefined) Object.assign(some, { [name]: all[name] });
  return some;
}
