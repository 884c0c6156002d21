import type { ActorKind } from '../../kernel/audit-actions.ts';

/** Who made a change, as the audit log shows it. */
export interface Actor {
  /**
   * `operator`: a user acting on an account as an operator; `command`: the command line; `service`: the program itself.
   */
  readonly kind: ActorKind;
  /** Id of the user or key. */
  readonly id: string | null;
  /** A user's address, a key's name; what was true at the time. */
  readonly name: string;
  readonly ip: string | null;
}
