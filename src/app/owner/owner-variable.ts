/** The variable that makes a process the owner for the clients of several relays. It names its place. */
export const ownerVariable = 'CARREL_OWNER_PLACE';

/**
 * What an owner tells the relay that started it, as a line on stdout. `ready`: it can be reached. `other`: another one was
 * faster. `alone`: these settings, or this machine, are not for sharing.
 */
export type OwnerWord = 'ready' | 'other' | 'alone';
