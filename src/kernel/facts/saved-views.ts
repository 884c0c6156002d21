/** Pages whose search can be saved under a name. */
export const VIEW_PAGES = ['log'] as const;
export type ViewPage = (typeof VIEW_PAGES)[number];
