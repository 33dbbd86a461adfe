import type { SliceValues } from '../config/field.ts';
import type { Config } from '../config/load.ts';
import { httpSlice } from '../config/slices.ts';
import type { ListenLimits } from '../http/listen.ts';

export function listenLimitsOf(http: SliceValues<typeof httpSlice>): Partial<ListenLimits> {
  return {
    connectionsMax: http.connectionsMax,
    perAddressMax: http.connectionsPerAddressMax,
    unsentBytesMax: http.unsentBytesMax,
  };
}

/** Returns this server's own addresses. It must not fetch them, because a page could make it call its own tools. */
export function ownTargets(config: Config): string[] {
  const { transport, port } = config.of(httpSlice);
  if (transport !== 'http' || port === 0) return [];
  return ['localhost', '127.0.0.0/8', '[::1]', '[::]', '0.0.0.0'].map((host) => `${host}:${port}`);
}
