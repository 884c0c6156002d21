/**
 * Handlers of sockets, timers, signals and promises that nobody awaits: what one of them throws has no caller to catch
 * it and ends the process, which may be somebody else's. A contained handler ends only what it worked on.
 */

type EventHandler<A extends unknown[], R> = (...args: A) => R;

/**
 * `handler`, which throws nothing any more: `onFault` gets what it throws, and ends what it was about. What `onFault`
 * throws in turn is a warning of the process.
 */
export const contain =
  <A extends unknown[], R>(
    onFault: (fault: unknown) => void,
    handler: EventHandler<A, R>,
  ): EventHandler<A, R | undefined> =>
  (...args) => {
    try {
      return handler(...args);
    } catch (fault) {
      try {
        onFault(fault);
      } catch (another) {
        warnOfFault(another);
      }
      return undefined;
    }
  };

/** Warns of a fault that no caller waits for, by a warning of the process, with the stack. */
export function warnOfFault(fault: unknown): void {
  const { message, stack = '' } = fault instanceof Error ? fault : new Error(String(fault));
  process.emitWarning(`A fault in the mail engine, which goes on: ${message}`, { type: 'MailvetFault', detail: stack });
}
