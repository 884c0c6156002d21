/** What the thread that renders first views (first-view-thread.ts) and the one that uses it tell each other. */

/** What the dashboard's `render` returns (web/src/first-view/render.tsx). */
export interface Rendered<K = unknown> {
  readonly html: string;
  /** Whose data is shown; null: nobody's. */
  readonly account: string | null;
  /** The data that it was rendered with. */
  readonly known: K;
}

export interface ViewRequest {
  /** Of the page, with the public address of the service. */
  readonly url: string;
  /** As `navigator.platform`: the names of keys depend on it. */
  readonly platform: string;
  /** Of style elements. */
  readonly nonce: string;
}

export interface DataReply {
  readonly status: number;
  /** JSON. */
  readonly body: string;
}

/** `id`: of the view; `n`: of its request. */
export type Order =
  | ({ readonly kind: 'render'; readonly id: number } & ViewRequest)
  | { readonly kind: 'reply'; readonly id: number; readonly n: number; readonly reply: DataReply };

export type Report =
  | { readonly kind: 'ask'; readonly id: number; readonly n: number; readonly path: string }
  /** `known`: JSON. Null: what the page shows is only known in the browser. */
  | { readonly kind: 'rendered'; readonly id: number; readonly view: Rendered<string> | null }
  | { readonly kind: 'failed'; readonly id: number; readonly message: string };
