/**
 * Which node checks the mailboxes of lists at a mail operator, so that those of one operator are checked by one node at
 * a time. A lease ends by the store's clock when it is not renewed; then any node may take it.
 */
export interface OperatorLeases {
  /**
   * Takes or renews the leases of these operators. Returns those that the node has now; other nodes have the others.
   */
  take(node: string, operators: readonly string[], leaseMs: number): Promise<readonly string[]>;
  /** Those of these operators that other nodes have. */
  ofOthers(node: string, operators: readonly string[]): Promise<readonly string[]>;
  /** Ends the node's leases of these operators. */
  release(node: string, operators: readonly string[]): Promise<void>;
}
