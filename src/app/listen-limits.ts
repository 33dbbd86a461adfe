import type { SliceValues } from '../config/field.ts';
import type { httpSlice } from '../config/slices.ts';
import type { ListenLimits } from '../http/listen.ts';

/** Returns the limits that the operator set. */
export function listenLimitsOf(http: SliceValues<typeof httpSlice>): Partial<ListenLimits> {
  return {
    connectionsMax: http.connectionsMax,
    perAddressMax: http.connectionsPerAddressMax,
    unsentBytesMax: http.unsentBytesMax,
  };
}
