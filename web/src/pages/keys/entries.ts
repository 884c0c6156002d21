/** Entries separated by white space, commas or semicolons. */
export const parseEntries = (text: string): string[] => text.split(/[\s,;]+/).filter((entry) => entry !== '');
