const eventsMax = 500;
const bytesMax = 1024 * 1024;
/** Max bytes of all sessions' logs. Above it, sessions store nothing. */
const allBytesMax = 32 * 1024 * 1024;

/**
 * Creates the log of a session's recent events, from which a client can resume after a disconnect. `allLogs` counts the bytes of
 * all logs. `prefix` makes ids unique across processes.
 */
export function createEventLog(allLogs: { bytes: number }, prefix: string) {
  let events: { streamId: number; sequence: number; message: object | undefined; bytes: number }[] = [];
  let bytes = 0;
  let sequence = 0;
  let droppedUpTo = 0;

  const trim = (): void => {
    let drop = 0;
    const isOverLimit = (remaining: number): boolean =>
      remaining > eventsMax || (bytes > bytesMax && remaining > 1) || (allLogs.bytes > allBytesMax && remaining > 0);
    while (isOverLimit(events.length - drop)) {
      const size = events[drop]?.bytes ?? 0;
      bytes -= size;
      allLogs.bytes -= size;
      droppedUpTo = events[drop]?.sequence ?? droppedUpTo;
      drop += 1;
    }
    if (drop > 0) events = events.slice(drop);
  };

  return {
    /** Stores a message and returns its event id. */
    append(streamId: number, message: object | undefined): string {
      sequence += 1;
      const size = message === undefined ? 0 : JSON.stringify(message).length;
      events.push({ streamId, sequence, message, bytes: size });
      bytes += size;
      allLogs.bytes += size;
      trim();
      return `${prefix}${streamId}-${sequence}`;
    },
    /** Drops all events, at the session's end. */
    clear(): void {
      allLogs.bytes -= bytes;
      bytes = 0;
      events = [];
      droppedUpTo = sequence;
    },
    /** Returns the messages after an event, of the same stream. Undefined if the event is unknown or was dropped. */
    after(eventId: string) {
      if (!eventId.startsWith(prefix)) return undefined;
      const match = /^(\d{1,15})-(\d{1,15})$/.exec(eventId.slice(prefix.length));
      if (match === null) return undefined;
      const streamId = Number(match[1]);
      const since = Number(match[2]);
      if (since > sequence || since < droppedUpTo) return undefined;
      const missed = events.filter((event) => event.streamId === streamId && event.sequence > since);
      return {
        streamId,
        events: missed.flatMap(({ message, sequence: number }) =>
          message === undefined ? [] : [{ id: `${prefix}${streamId}-${number}`, message }],
        ),
      };
    },
  };
}
