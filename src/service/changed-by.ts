import type { Actor, Caller, Keys } from '../store/store.ts';

/** Who makes a change: a user, or an API key, whose name is looked up for the audit log. */
export type ChangedBy = Actor | { readonly caller: Caller; readonly ip: string };

export const actorFor =
  (keys: Pick<Keys, 'get'>) =>
  async (by: ChangedBy): Promise<Actor> => {
    if (!('caller' in by)) return by;
    const { keyId } = by.caller;
    return { kind: 'key', id: keyId, name: (await keys.get(keyId))?.name ?? keyId, ip: by.ip };
  };
