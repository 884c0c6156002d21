/**
 * How nodes that share an egress address share a limit towards mail servers: each leases a slice of it, in units of
 * which the limit has `total`. The slices of all nodes together never have more. A slice ends by the store's clock when
 * it is not renewed.
 */
export interface SliceRequest {
  /** Of the limit. */
  readonly key: string;
  readonly total: number;
  /** Units that the node may use until it gets the reply: it cannot be left with fewer. */
  readonly holds: number;
  /** Units that it has work for; 0: it gives back what it does not hold. */
  readonly needs: number;
  /** A limit that nobody has used for so long, ms, is as good as new. */
  readonly restMs: number;
}

export interface Slice {
  readonly key: string;
  readonly units: number;
  /** Units that it may keep; fewer than `units` if other nodes wait for some. */
  readonly target: number;
  /** Nobody has used the limit for `restMs`. */
  readonly isRested: boolean;
}

export interface PaceSlices {
  /**
   * Takes, renews or gives back the slices of one node. `leaseMs`: from now, by the store's clock. A request may be
   * left without a reply, when other nodes keep changing the same limit: what the node had before still holds.
   */
  lease(node: string, requests: readonly SliceRequest[], leaseMs: number): Promise<readonly Slice[]>;
}
