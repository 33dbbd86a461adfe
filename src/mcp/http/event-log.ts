/** What was recently sent on a session's streams, so that a client whose connection broke can get the rest. */
export interface EventLog {
  /** Remembers a message and returns the id of its event. */
  append(streamId: number, message: object | undefined): string;
  /** Forgets everything: the session is over. */
  clear(): void;
  /** The messages of the same stream that came after the event; undefined for an id that is unknown or too old. */
  after(eventId: string): { streamId: number; events: { id: string; message: object }[] } | undefined;
}

const eventsMax = 500;
const bytesMax = 1024 * 1024;
/** Limit for all sessions together. Beyond it, a session keeps nothing. */
const allBytesMax = 32 * 1024 * 1024;

/** `remembered` counts what all logs hold. `prefix`: of the ids, where several processes have a log of one session. */
export function createEventLog(remembered: { bytes: number } = { bytes: 0 }, prefix = ''): EventLog {
  let events: { streamId: number; sequence: number; message: object | undefined; bytes: number }[] = [];
  let bytes = 0;
  let sequence = 0;
  let forgottenUpTo = 0;

  const trim = (): void => {
    let drop = 0;
    const isTooMuch = (left: number): boolean =>
      left > eventsMax || (bytes > bytesMax && left > 1) || (remembered.bytes > allBytesMax && left > 0);
    while (isTooMuch(events.length - drop)) {
      const size = events[drop]?.bytes ?? 0;
      bytes -= size;
      remembered.bytes -= size;
      forgottenUpTo = events[drop]?.sequence ?? forgottenUpTo;
      drop += 1;
    }
    if (drop > 0) events = events.slice(drop);
  };

  return {
    append(streamId, message) {
      sequence += 1;
      const size = message === undefined ? 0 : JSON.stringify(message).length;
      events.push({ streamId, sequence, message, bytes: size });
      bytes += size;
      remembered.bytes += size;
      trim();
      return `${prefix}${streamId}-${sequence}`;
    },
    clear() {
      remembered.bytes -= bytes;
      bytes = 0;
      events = [];
      forgottenUpTo = sequence;
    },
    after(eventId) {
      if (!eventId.startsWith(prefix)) return undefined;
      const match = /^(\d{1,15})-(\d{1,15})$/.exec(eventId.slice(prefix.length));
      if (match === null) return undefined;
      const streamId = Number(match[1]);
      const since = Number(match[2]);
      if (since > sequence || since < forgottenUpTo) return undefined;
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
