export type { AccountId, Actor, Role } from '../store/store.ts';
