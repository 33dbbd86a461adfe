import type { Icon } from '@modelcontextprotocol/server';
import type { Offer } from './offer.ts';
import { knowsIcons } from './protocol-versions.ts';

/** `serverInfo` for a client that asks who we are. In 2026-07-28 every answer repeats it, but not its pictures. */
export function introduction(
  { serverInfo, icons }: Pick<Offer, 'serverInfo' | 'icons'>,
  revision: string,
): Offer['serverInfo'] & { icons?: Icon[] } {
  return icons !== undefined && knowsIcons(revision) ? { ...serverInfo, icons } : serverInfo;
}
