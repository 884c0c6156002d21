/** Names of the parameters with which the document was opened: the router drops those that no page understands. */
export const openedParameters: readonly string[] = [...new Set(new URLSearchParams(location.search).keys())];
